/* The threads that run steps.

   One team of threads serves the process, one call at a time; a call that takes one thread runs on
   its own. Who waits spins for some microseconds, then gives way to others, then sleeps. A forked
   child has none of its parent's threads and starts its own. */
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

/* Nanoseconds until a wait changes its manner. Those who meet may share one processor while others
   have the rest, so spinning is short: it only keeps the other from arriving. */
enum { SPINNING = 1000, GIVING_WAY = 100000 };

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

/* ---- The team. ---- */

typedef struct meeting { /* a barrier: the last to arrive opens the gate for the others */
    dg_barrier barrier;
    _Alignas(64) _Atomic int arrived; /* apart from what the others look at meanwhile */
    _Alignas(64) gate gate;
} meeting;

static void meet(dg_barrier *barrier, int count)
{
    meeting *m = (meeting *)barrier;
    uint32_t turn = atomic_load(&m->gate.turn); /* it moves only after this thread has arrived */
    if (atomic_fetch_add(&m->arrived, 1) + 1 < count) {
        gate_wait(&m->gate, turn);
        return;
    }
    atomic_store(&m->arrived, 0);
    gate_open(&m->gate);
}

typedef struct worker {
    gate start;
    int me;
    struct worker *next;
} worker;

typedef struct team {
    pthread_mutex_t busy;    /* held by the call that it serves */
    worker *workers;         /* besides the calling thread, in the order 1, 2, ... */
    worker **end;
    int size;
    dg_part *part;           /* what it runs now */
    dg_call *call;
    int count;
    meeting meeting;
} team;

#define NOBODY {PTHREAD_MUTEX_INITIALIZER, 0, &ours.workers, 0, 0, 0, 0, {{meet}, 0, CLOSED}}

static team ours = NOBODY;

/* The threads are the parent's, whatever they were doing: the child forgets them. */
static void forget(void)
{
    ours = (team)NOBODY;
}

__attribute__((constructor)) static void prepare(void)
{
    pthread_atfork(NULL, NULL, forget);
}

static void share(int me)
{
    int count = ours.count; /* after the last meeting it may be another call's */
    ours.part(ours.call, me, count);
    meet(&ours.meeting.barrier, count);
}

static void *work(void *given)
{
    worker *w = given;
    for (uint32_t turn = 0;; turn++) {
        gate_wait(&w->start, turn);
        share(w->me);
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
        pthread_t thread;
        worker *w = malloc(sizeof *w);
        if (!w) {
            error = ENOMEM;
            break;
        }
        *w = (worker){CLOSED, ours.size + 1, NULL};
        if ((error = pthread_create(&thread, NULL, work, w))) {
            free(w);
        } else {
            pthread_detach(thread);
            *ours.end = w;
            ours.end = &w->next;
            ours.size++;
        }
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return error;
}

/* Run a part on so many threads. Returns 0, or the error of a thread that could not be started. */
int dg_run(dg_part *part, dg_call *call, int count)
{
    call->fault[0] = 0;
    if (count == 1) {
        call->barrier = NULL;
        part(call, 0, 1);
        return 0;
    }
    pthread_mutex_lock(&ours.busy);
    int error = grow(count - 1);
    if (!error) {
        ours.part = part;
        ours.call = call;
        ours.count = count;
        call->barrier = &ours.meeting.barrier;
        worker *w = ours.workers;
        for (int k = 1; k < count; k++, w = w->next)
            gate_open(&w->start);
        share(0);
    }
    pthread_mutex_unlock(&ours.busy);
    return error;
}
