#include "loops.h"

// add: tests/programs.py:90  return {"both": p + q}, {p: q, q: p + x, mean: 0.9 * mean + 0.1 * p}
// map over (4,)
// add: tests/programs.py:90  return {"both": p + q}, {p: q, q: p + x, mean: 0.9 * mean + 0.1 * p}
// map over (4,)
void k0(int64_t me, int64_t count, const float *a0, const float *a1, float *y0, int64_t n) {
    const int64_t low = dg_share(n, 64, me, count);
    const int64_t high = dg_share(n, 64, me + 1, count);
    #pragma omp simd
    for (int64_t i0 = low; i0 < high; i0++) {
        const float r0 = a0[i0];
        const float r1 = a1[i0];
        // tests/programs.py:90  return {"both": p + q}, {p: q, q: p + x, mean: 0.9 * mean + 0.1 * p}
        const float r2 = r0 + r1;
        y0[i0] = r2;
    }
}

// multiply_add: tests/programs.py:90  return {"both": p + q}, {p: q, q: p + x, mean: 0.9 * mean + 0.1 * p}
// map over (4,)
void k1(int64_t me, int64_t count, const float *a0, const float *a1, float *y0, int64_t n) {
    const int64_t low = dg_share(n, 64, me, count);
    const int64_t high = dg_share(n, 64, me + 1, count);
    #pragma omp simd
    for (int64_t i0 = low; i0 < high; i0++) {
        const float r0 = a0[i0];
        const float r1 = a1[i0];
        // tests/programs.py:90  return {"both": p + q}, {p: q, q: p + x, mean: 0.9 * mean + 0.1 * p}
        const float r2 = 0.9f * r0;
        const float r3 = 0.1f * r1;
        const float r4 = r2 + r3;
        y0[i0] = r4;
    }
}

// copy: tests/programs.py:88  p, q = dg.Parameter(np.zeros(4, "f"), "p"), dg.Parameter(np.ones(4, "f"), "q")
// map over (4,)
void k2(int64_t me, int64_t count, const float *a0, float *y0, int64_t n) {
    const int64_t low = dg_share(n, 64, me, count);
    const int64_t high = dg_share(n, 64, me + 1, count);
    #pragma omp simd
    for (int64_t i0 = low; i0 < high; i0++) {
        const float r0 = a0[i0];
        // tests/programs.py:88  p, q = dg.Parameter(np.zeros(4, "f"), "p"), dg.Parameter(np.ones(4, "f"), "q")
        const float r1 = r0;
        y0[i0] = r1;
    }
}

static void run0(dg_call *call, int stage, int me, int count) {
    (void)count;
    switch (stage) {
        case 0: {
            if (me >= 1) return;
            // add: tests/programs.py:90  return {"both": p + q}, {p: q, q: p + x, mean: 0.9 * mean + 0.1 * p}
            k0(me, 1, (const float *)call->at[2], (const float *)call->at[3], (float *)call->at[1], 4);
            // multiply_add: tests/programs.py:90  return {"both": p + q}, {p: q, q: p + x, mean: 0.9 * mean + 0.1 * p}
            k1(me, 1, (const float *)call->at[4], (const float *)call->at[2], (float *)call->at[4], 4);
            // copy: tests/programs.py:88  p, q = dg.Parameter(np.zeros(4, "f"), "p"), dg.Parameter(np.ones(4, "f"), "q")
            k2(me, 1, (const float *)call->at[3], (float *)call->at[5], 4);
            // add: tests/programs.py:90  return {"both": p + q}, {p: q, q: p + x, mean: 0.9 * mean + 0.1 * p}
            k0(me, 1, (const float *)call->at[2], (const float *)call->at[0], (float *)call->at[3], 4);
            return;
        }
    }
}
const dg_part part0 = {1, run0};

p, q, mean0, = parameters
v0 = slot(0, (4,), 'float32')


def step(x, out_both):
    part0(x, out_both)
    # add: tests/programs.py:90  return {"both": p + q}, {p: q, q: p + x, mean: 0.9 * mean + 0.1 * p}
    # multiply_add: tests/programs.py:90  return {"both": p + q}, {p: q, q: p + x, mean: 0.9 * mean + 0.1 * p}
    # copy: tests/programs.py:88  p, q = dg.Parameter(np.zeros(4, "f"), "p"), dg.Parameter(np.ones(4, "f"), "q")
    # add: tests/programs.py:90  return {"both": p + q}, {p: q, q: p + x, mean: 0.9 * mean + 0.1 * p}
    # new values
    np.copyto(p, v0)
