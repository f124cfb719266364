/* The way from Python into a step, compiled behind team.c.

   Nothing of Python or NumPy is included. What is used of Python is part of its stable ABI; where
   an array holds what is part of NumPy's ABI for extensions, and checked when this is loaded. */

typedef struct PyObject PyObject;
typedef intptr_t Py_ssize_t;
typedef struct PyMethodDef {
    const char *name;
    void (*function)(void);
    int flags;
    const char *doc;
} PyMethodDef;

enum { METH_O = 0x08, METH_FASTCALL = 0x80 };

extern PyObject *PyCFunction_NewEx(PyMethodDef *, PyObject *self, PyObject *module);
extern PyObject *PyCapsule_New(void *, const char *name, void (*destructor)(PyObject *));
extern void *PyCapsule_GetPointer(PyObject *, const char *name);
extern Py_ssize_t PyDict_Size(PyObject *);
extern PyObject *PyDict_GetItemWithError(PyObject *, PyObject *key);
extern PyObject *PyErr_Format(PyObject *, const char *, ...);
extern PyObject *PyErr_NoMemory(void);
extern void PyErr_Clear(void);
extern PyObject *PyExc_OSError, *PyExc_TypeError;
extern void *PyEval_SaveThread(void);
extern void PyEval_RestoreThread(void *);
extern PyObject *PyList_New(Py_ssize_t), *PyList_GetItem(PyObject *, Py_ssize_t);
extern int PyList_SetItem(PyObject *, Py_ssize_t, PyObject *);
extern PyObject *PyObject_CallNoArgs(PyObject *);
extern int PyObject_IsTrue(PyObject *);
extern int PyContextVar_Get(PyObject *, PyObject *otherwise, PyObject **value);
extern long PyLong_AsLong(PyObject *);
extern int PyType_IsSubtype(PyObject *, PyObject *);
extern PyObject *Py_BuildValue(const char *, ...);
extern void Py_IncRef(PyObject *), Py_DecRef(PyObject *);

/* Said once, before anything else here is used. */
static PyObject *array_type; /* numpy.ndarray, */
static Py_ssize_t array_at;  /* where in one of its objects its fields begin, */
static PyObject *setting;    /* the context variable that says how many threads are wanted, */
static int usual;            /* and how many where it says 0 */

typedef struct array { /* what follows an object's header */
    char *data;
    int ndim;
    const Py_ssize_t *shape, *strides;
    PyObject *base, *dtype;
    int flags;
} array;

enum { CONTIGUOUS = 0x1, ALIGNED = 0x100 };

static inline const array *fields(PyObject *object)
{
    return (const array *)((const char *)object + array_at);
}

static inline PyObject *type_of(PyObject *object) /* the last of the header */
{
    return ((PyObject *const *)fields(object))[-1];
}

static PyObject *none(void)
{
    return Py_BuildValue("");
}

static void discard(PyObject *object)
{
    if (object)
        Py_DecRef(object);
    else
        PyErr_Clear();
}

void dg_begin(PyObject *type, Py_ssize_t at, PyObject *threads, int default_threads)
{
    array_type = type;
    array_at = at;
    setting = threads;
    usual = default_threads;
}

/* A function of a C struct, which is freed with it; it keeps an object alive. */
static PyObject *function(PyMethodDef *method, void *data, void (*destructor)(PyObject *),
                          PyObject *keep)
{
    PyObject *capsule = PyCapsule_New(data, method->name, destructor);
    if (!capsule)
        return NULL;
    Py_IncRef(keep);
    PyObject *made = PyCFunction_NewEx(method, capsule, NULL);
    Py_DecRef(capsule);
    return made;
}

/* ---- A part over arrays that are known to suit. ---- */

typedef struct caller {
    const dg_part *part;
    dg_call *call;
    PyObject *keep;     /* what owns the call's memory */
    Py_ssize_t arrays;  /* how many arguments it takes */
    int count;          /* threads */
    int holding;        /* does it hold the interpreter's lock while it runs? */
} caller;

static const char RUN[] = "run";

/* Run the part over these arrays' memory. None, or what is known of a bad index. */
static PyObject *run(PyObject *self, PyObject *const *args, Py_ssize_t n)
{
    caller *c = PyCapsule_GetPointer(self, RUN);
    if (n != c->arrays)
        return PyErr_Format(PyExc_TypeError, "takes %zd arrays: got %zd", c->arrays, n);
    for (Py_ssize_t k = 0; k < n; k++) {
        PyObject *type = type_of(args[k]);
        if (type != array_type && !PyType_IsSubtype(type, array_type))
            return PyErr_Format(PyExc_TypeError, "argument %zd is not an array", k);
        c->call->at[k] = fields(args[k])->data;
    }
    void *thread = c->holding ? NULL : PyEval_SaveThread();
    int error = dg_run(c->part, c->call, c->count);
    if (thread)
        PyEval_RestoreThread(thread);
    if (error)
        return PyErr_Format(PyExc_OSError, "cannot start %d threads: %s", c->count, strerror(error));
    const int64_t *fault = c->call->fault;
    if (fault[0])
        return Py_BuildValue("LLL", (long long)fault[0] - 1, (long long)fault[1],
                             (long long)fault[2]);
    return none();
}

static void free_caller(PyObject *capsule)
{
    caller *c = PyCapsule_GetPointer(capsule, RUN);
    Py_DecRef(c->keep);
    free(c);
}

PyObject *dg_caller(const dg_part *part, dg_call *call, PyObject *keep, Py_ssize_t arrays, int count,
                    int holding)
{
    static PyMethodDef method = {RUN, (void (*)(void))run, METH_FASTCALL, NULL};
    caller *c = malloc(sizeof *c);
    if (!c)
        return PyErr_NoMemory();
    *c = (caller){part, call, keep, arrays, count, holding};
    return function(&method, c, free_caller, keep);
}

/* ---- A whole step: feeds by name, checked, into fresh results. ---- */

typedef struct dg_feed {
    PyObject *name, *dtype;
    Py_ssize_t ndim;
    const Py_ssize_t *shape;
} dg_feed;

typedef struct dg_lock {
    PyObject *acquire, *release; /* acquire says false where it is not free */
    PyObject *copies;            /* a parameter's, a dict by device: it must hold one alone */
} dg_lock;

typedef struct step {
    const dg_part *part;
    dg_call *call;
    PyObject *keep;             /* what owns the call's memory, and all that is named below */
    const dg_feed *feed;
    PyObject *const *maker;     /* of a fresh array for each result */
    const dg_lock *lock;
    int feeds, results, locks;
    int count;                  /* threads that run it, */
    int asked;                  /* where so many are asked for; 0: whatever is asked for */
    int holding;                /* does it hold the interpreter's lock while it runs? */
} step;

enum { FEEDS = 32 }; /* at most */

static const char STEP[] = "step";

static int suits(PyObject *given, const dg_feed *feed)
{
    if (type_of(given) != array_type)
        return 0;
    const array *a = fields(given);
    if (a->dtype != feed->dtype || a->ndim != feed->ndim ||
        (a->flags & (CONTIGUOUS | ALIGNED)) != (CONTIGUOUS | ALIGNED))
        return 0;
    for (Py_ssize_t k = 0; k < feed->ndim; k++)
        if (a->shape[k] != feed->shape[k])
            return 0;
    return 1;
}

/* The feeds in order; 0 if they are not just what the step was bound for. */
static int take(const step *s, PyObject *feeds, PyObject **given)
{
    if (PyDict_Size(feeds) != s->feeds)
        return 0;
    for (int k = 0; k < s->feeds; k++) {
        given[k] = PyDict_GetItemWithError(feeds, s->feed[k].name);
        if (!given[k] || !suits(given[k], &s->feed[k]))
            return 0;
    }
    return 1;
}

static void unlock(const step *s, int count)
{
    while (count-- > 0)
        discard(PyObject_CallNoArgs(s->lock[count].release));
}

/* Take all locks, or none. */
static int lock(const step *s)
{
    for (int k = 0; k < s->locks; k++) {
        const dg_lock *l = &s->lock[k];
        PyObject *said = !l->copies || PyDict_Size(l->copies) == 1
                             ? PyObject_CallNoArgs(l->acquire) : NULL;
        int free = said && PyObject_IsTrue(said) == 1;
        discard(said);
        if (!free) {
            unlock(s, k);
            return 0;
        }
    }
    return 1;
}

static PyObject *fresh(const step *s)
{
    PyObject *results = PyList_New(s->results);
    for (int k = 0; results && k < s->results; k++) {
        PyObject *made = PyObject_CallNoArgs(s->maker[k]);
        if (!made) {
            discard(results);
            PyErr_Clear();
            return NULL;
        }
        PyList_SetItem(results, k, made);
    }
    return results;
}

/* How many threads are asked for in this context. */
static long asked(void)
{
    PyObject *value = NULL;
    if (PyContextVar_Get(setting, NULL, &value) || !value)
        return -1;
    long count = PyLong_AsLong(value);
    Py_DecRef(value);
    return count ? count : usual;
}

/* Run the part over feeds and results. 0, or what is in the way. */
static int run_over(const step *s, PyObject *const *given, PyObject *results)
{
    char **at = s->call->at;
    for (int k = 0; k < s->feeds; k++)
        *at++ = fields(given[k])->data;
    for (int k = 0; k < s->results; k++)
        *at++ = fields(PyList_GetItem(results, k))->data;
    void *thread = s->holding ? NULL : PyEval_SaveThread();
    int error = dg_run(s->part, s->call, s->count);
    if (thread)
        PyEval_RestoreThread(thread);
    return error || s->call->fault[0];
}

/* The results of one call, or None where it must go the slow way: then nothing was done, and what
   went wrong will go wrong there.

   No other call comes between: one of the locks is the step's own, or the interpreter's is held
   from the first address that is stored to the end of the part. */
static PyObject *run_step(PyObject *self, PyObject *feeds)
{
    const step *s = PyCapsule_GetPointer(self, STEP);
    PyObject *given[FEEDS], *results = NULL;
    if (take(s, feeds, given) && (!s->asked || asked() == s->asked) && lock(s)) {
        results = fresh(s);
        if (results && run_over(s, given, results)) {
            discard(results);
            results = NULL;
        }
        unlock(s, s->locks);
    }
    PyErr_Clear();
    return results ? results : none();
}

static void free_step(PyObject *capsule)
{
    step *s = PyCapsule_GetPointer(capsule, STEP);
    Py_DecRef(s->keep);
    free(s);
}

/* A function of a dict of feeds, FEEDS at most. */
PyObject *dg_step(const dg_part *part, dg_call *call, PyObject *keep, const dg_feed *feed,
                  PyObject *const *maker, const dg_lock *lock, int feeds, int results, int locks,
                  int count, int asked_for, int holding)
{
    static PyMethodDef method = {STEP, (void (*)(void))run_step, METH_O, NULL};
    step *s = malloc(sizeof *s);
    if (!s)
        return PyErr_NoMemory();
    *s = (step){part, call, keep, feed, maker, lock, feeds, results, locks, count,
                asked_for, holding};
    return function(&method, s, free_step, keep);
}
