/* The threads that run steps.

   One team of threads serves the process, one call at a time; a call that takes one thread runs on
   its own. A thread of the team takes its own share of a stage, then those that nobody has taken:
   one that comes late, because it slept or because another program's thread has its processor,
   holds nobody up. Who waits spins for some microseconds, then gives way to others, then sleeps. A
   forked child has none of its parent's threads and starts its own. */
#define _GNU_SOURCE
#include "team.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* ---- Gates: a count that grows, and threads that wait until it does. ---- */

/* Nanoseconds until a wait changes its manner. Who gives way to another program's thread that spins
   may not come back for some milliseconds; who spins may keep the one that it waits for from its
   processor. */
enum { SPINNING = 20000, GIVING_WAY = 100000 };

typedef struct gate {
    _Atomic uint32_t turn;
    _Atomic uint32_t asleep;
    pthread_mutex_t mutex;
    pthread_cond_t moved;
} gate;

#define CLOSED {0, 0, PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER}

static int64_t now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * INT64_C(1000000000) + t.tv_nsec;
}

static inline void breathe(void)
{
#if defined __x86_64__ || defined __i386__
    __builtin_ia32_pause();
#elif defined __aarch64__
    __asm__ volatile("isb");
#endif
}

static void gate_open(gate *g)
{
    atomic_fetch_add(&g->turn, 1);
    if (atomic_load(&g->asleep)) { /* who is about to sleep looks at the turn after saying so */
        pthread_mutex_lock(&g->mutex);
        pthread_cond_broadcast(&g->moved);
        pthread_mutex_unlock(&g->mutex);
    }
}

/* Wait until the turn is another than this one. */
static void gate_wait(gate *g, uint32_t turn)
{
    int64_t start = 0, waited = 0;
    while (waited < GIVING_WAY) {
        for (int k = 0; k < 16; k++) {
            if (atomic_load_explicit(&g->turn, memory_order_acquire) != turn)
                return;
            breathe();
        }
        if (start == 0)
            start = now();
        waited = now() - start;
        if (waited > SPINNING)
            sched_yield();
    }
    pthread_mutex_lock(&g->mutex);
    atomic_fetch_add(&g->asleep, 1);
    while (atomic_load(&g->turn) == turn)
        pthread_cond_wait(&g->moved, &g->mutex);
    atomic_fetch_sub(&g->asleep, 1);
    pthread_mutex_unlock(&g->mutex);
}

/* ---- Processors. ---- */

/* Which processor this thread is on; -1 where the system does not say. */
static int here(void)
{
#ifdef __linux__
    return sched_getcpu();
#else
    return -1;
#endif
}

typedef struct places { /* the processors of a thread: */
#ifdef __linux__
    cpu_set_t all, given; /* those that it had, and those of them that it was left */
#else
    char nothing;
#endif
} places;

/* Keep a thread off a processor, if it may use others. Returns whether it is kept off. */
static int keep_off(pthread_t thread, places *p, int processor)
{
#ifdef __linux__
    cpu_set_t now;
    if (processor < 0 || pthread_getaffinity_np(thread, sizeof now, &now))
        return 0;
    if (!CPU_EQUAL(&now, &p->given)) /* these somebody else gave it */
        p->all = now;
    p->given = p->all;
    CPU_CLR(processor, &p->given);
    return CPU_COUNT(&p->given) && !pthread_setaffinity_np(thread, sizeof p->given, &p->given);
#else
    (void)thread, (void)p, (void)processor;
    return 0;
#endif
}

/* ---- The team. ---- */

enum { MOST = 1024 }; /* threads */

typedef struct share {
    _Alignas(64) _Atomic uint32_t taken; /* the last stage in which this share was taken */
} share;

typedef struct worker {
    gate start;
    int me;
    pthread_t thread;
    places places;
    struct worker *next;
} worker;

typedef struct team {
    pthread_mutex_t busy;          /* held by the call that it serves */
    worker *workers;               /* besides the calling thread, in the order 1, 2, ... */
    worker **end;
    int size;
    const dg_part *part;           /* what it runs now */
    dg_call *call;
    int processor;                 /* of the calling thread, which the workers keep off; or -1 */
    _Atomic int count;             /* shares of each stage */
    _Atomic uint32_t first, last;  /* stages of this call; at others the team is idle */
    _Alignas(64) _Atomic int done; /* shares of this stage, apart from what all look at meanwhile */
    _Alignas(64) gate stage;
} team;

#define NOBODY                                                                                     \
    {PTHREAD_MUTEX_INITIALIZER, 0, &ours.workers, 0, 0, 0, -1, 0, 0, UINT32_MAX, 0, CLOSED}

static team ours = NOBODY;
static share shares[MOST];

/* The threads are the parent's, whatever they were doing: the child forgets them. */
static void forget(void)
{
    ours = (team)NOBODY;
}

__attribute__((constructor)) static void prepare(void)
{
    pthread_atfork(NULL, NULL, forget);
}

/* Take a share of a stage, one's own if nobody has it; -1 where all are taken, or the stage over. */
static int take_share(uint32_t stage, int own, int count)
{
    int k = own;
    do {
        uint32_t before = atomic_load(&shares[k].taken);
        if ((int32_t)(stage - before) > 0 &&
            atomic_compare_exchange_strong(&shares[k].taken, &before, stage))
            return k;
        k = k + 1 < count ? k + 1 : 0;
    } while (k != own);
    return -1;
}

static void run_share(const dg_part *part, dg_call *call, int stage, int me, int count)
{
    if (!__atomic_load_n(&call->fault[0], __ATOMIC_RELAXED))
        part->run(call, stage, me, count);
}

/* Work on the call that the team serves, until it is done. Who has taken a share knows that the
   call is not over, and what it is; until then it may be another with every look. */
static void help(int me)
{
    for (;;) {
        uint32_t stage = atomic_load(&ours.stage.turn);
        int count = atomic_load(&ours.count), k;
        if ((int32_t)(atomic_load(&ours.last) - stage) < 0 || me >= count)
            return;
        while ((k = take_share(stage, me, count)) >= 0) {
            run_share(ours.part, ours.call, (int)(stage - ours.first), k, count);
            if (atomic_fetch_add(&ours.done, 1) + 1 == count) {
                atomic_store(&ours.done, 0);
                gate_open(&ours.stage);
            }
        }
        gate_wait(&ours.stage, stage);
    }
}

static void *work(void *given)
{
    worker *w = given;
    for (uint32_t turn = 0;; turn++) {
        gate_wait(&w->start, turn);
        help(w->me);
    }
    return NULL;
}

/* Start threads until there are so many. They leave signals to Python's threads. */
static int grow(int size)
{
    sigset_t all, before;
    int error = 0;
    if (ours.size >= size)
        return 0;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    while (ours.size < size && !error) {
        worker *w = malloc(sizeof *w);
        if (!w) {
            error = ENOMEM;
            break;
        }
        *w = (worker){.start = CLOSED, .me = ours.size + 1};
        if ((error = pthread_create(&w->thread, NULL, work, w))) {
            free(w);
        } else {
            pthread_detach(w->thread);
            *ours.end = w;
            ours.end = &w->next;
            ours.size++;
            ours.processor = -1;
        }
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return error;
}

/* See to it that the workers are on other processors than this thread. The system may put threads
   that wait for each other on one, and leaves them there. */
static void settle(void)
{
    int processor = here(), kept = 1;
    if (processor == ours.processor)
        return;
    for (worker *w = ours.workers; w; w = w->next)
        kept &= keep_off(w->thread, &w->places, processor);
    ours.processor = kept ? processor : -1;
}

/* Run a part in so many shares, on as many threads. Returns 0, or the error of a thread that could
   not be started. */
int dg_run(const dg_part *part, dg_call *call, int count)
{
    call->fault[0] = 0;
    if (count == 1) {
        for (int stage = 0; stage < part->stages; stage++)
            run_share(part, call, stage, 0, 1);
        return 0;
    }
    pthread_mutex_lock(&ours.busy);
    int error = count > MOST ? EAGAIN : grow(count - 1);
    if (!error) {
        uint32_t idle = atomic_load(&ours.stage.turn);
        for (int k = 0; k <= ours.size; k++)
            atomic_store(&shares[k].taken, idle);
        ours.part = part;
        ours.call = call;
        settle();
        atomic_store(&ours.count, count);
        atomic_store(&ours.first, idle + 1);
        atomic_store(&ours.last, idle + (uint32_t)part->stages);
        gate_open(&ours.stage);
        worker *w = ours.workers;
        for (int k = 1; k < count; k++, w = w->next)
            gate_open(&w->start);
        help(0);
    }
    pthread_mutex_unlock(&ours.busy);
    return error;
}
