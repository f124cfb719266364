#include "loops.h"

// sum_divide: tests/programs.py:79  means = dg.mean(dg.windows(x, 1, 3, stride=2), -1)
// fold over (n, 3, 3)
void k0(dg_call *call, int64_t me, int64_t count, const float *a0, float *y0) {
    const int64_t n_n = call->size[0];
    const int64_t low = dg_share(n_n, 1, me, count);
    const int64_t high = dg_share(n_n, 1, me + 1, count);
    for (int64_t i0 = low; i0 < high; i0++) {
        for (int64_t i1 = 0; i1 < 3; i1++) {
            double f1 = 0.0;
            {
                float s1 = 0.0f;
                #pragma omp simd reduction(+:s1)
                for (int64_t i2 = 0; i2 < 3; i2++) {
                    const float r0 = a0[i0 * 8 + i1 * 2 + i2];
                    s1 += r0;
                }
                f1 += s1;
            }
            // tests/programs.py:79  means = dg.mean(dg.windows(x, 1, 3, stride=2), -1)
            const float r1 = f1;
            const float r2 = r1 / 3.0f;
            y0[i0 * 3 + i1] = r2;
        }
    }
}

// multiply: tests/programs.py:82  return {"means": means, "product": spread * means[0], "every": x[::2, ::-3]}, None
// map over (3,)
void k1(int64_t me, int64_t count, const float *a0, const float *a1, float *y0, int64_t n) {
    const int64_t low = dg_share(n, 64, me, count);
    const int64_t high = dg_share(n, 64, me + 1, count);
    #pragma omp simd
    for (int64_t i0 = low; i0 < high; i0++) {
        const float r0 = a0[i0];
        const float r1 = a1[i0];
        // tests/programs.py:82  return {"means": means, "product": spread * means[0], "every": x[::2, ::-3]}, None
        const float r2 = r0 * r1;
        y0[i0] = r2;
    }
}

// copy: tests/programs.py:82  return {"means": means, "product": spread * means[0], "every": x[::2, ::-3]}, None
// map over (2, 3)
void k2(int64_t me, int64_t count, const float *a0, float *y0) {
    const int64_t low = dg_share(3, 64, me, count);
    const int64_t high = dg_share(3, 64, me + 1, count);
    for (int64_t i0 = 0; i0 < 2; i0++) {
        #pragma omp simd
        for (int64_t i1 = low; i1 < high; i1++) {
            const float r0 = a0[i1];
            // tests/programs.py:82  return {"means": means, "product": spread * means[0], "every": x[::2, ::-3]}, None
            const float r1 = r0;
            y0[i0 * 3 + i1] = r1;
        }
    }
}

// copy: tests/programs.py:82  return {"means": means, "product": spread * means[0], "every": x[::2, ::-3]}, None
// map over ((n + 1)//2, 3)
void k3(dg_call *call, int64_t me, int64_t count, const float *a0, float *y0) {
    const int64_t n_n = call->size[0];
    const int64_t low = dg_share((n_n + 1)/2, 1, me, count);
    const int64_t high = dg_share((n_n + 1)/2, 1, me + 1, count);
    for (int64_t i0 = low; i0 < high; i0++) {
        #pragma omp simd
        for (int64_t i1 = 0; i1 < 3; i1++) {
            const float r0 = a0[i0 * 16 + i1 * (-3) + 7];
            // tests/programs.py:82  return {"means": means, "product": spread * means[0], "every": x[::2, ::-3]}, None
            const float r1 = r0;
            y0[i0 * 3 + i1] = r1;
        }
    }
}

static void run0(dg_call *call, int stage, int me, int count) {
    const int64_t n_n = call->size[0];
    switch (stage) {
        case 0: {
            const int few = n_n*60 < 262144 ? 1 : count;
            if (me >= few) return;
            // sum_divide: tests/programs.py:79  means = dg.mean(dg.windows(x, 1, 3, stride=2), -1)
            k0(call, me, few, (const float *)call->at[0], (float *)call->at[1]);
            return;
        }
        case 1: {
            if (me >= 1) return;
            // multiply: tests/programs.py:82  return {"means": means, "product": spread * means[0], "every": x[::2, ::-3]}, None
            k1(me, 1, (const float *)call->at[4], (const float *)call->at[1], (float *)call->at[5], 3);
            // copy: tests/programs.py:82  return {"means": means, "product": spread * means[0], "every": x[::2, ::-3]}, None
            k2(me, 1, (const float *)call->at[5], (float *)call->at[2]);
            return;
        }
        case 2: {
            const int few = ((n_n + 1)/2)*24 < 262144 ? 1 : count;
            if (me >= few) return;
            // copy: tests/programs.py:82  return {"means": means, "product": spread * means[0], "every": x[::2, ::-3]}, None
            k3(call, me, few, (const float *)call->at[0], (float *)call->at[3]);
            return;
        }
    }
}
const dg_part part0 = {3, run0};

c0, = constants


def step(x, out_means, out_product, out_every):
    part0(x, out_means, out_product, out_every)
    # sum_divide: tests/programs.py:79  means = dg.mean(dg.windows(x, 1, 3, stride=2), -1)
    # multiply: tests/programs.py:82  return {"means": means, "product": spread * means[0], "every": x[::2, ::-3]}, None
    # copy: tests/programs.py:82  return {"means": means, "product": spread * means[0], "every": x[::2, ::-3]}, None
    # copy: tests/programs.py:82  return {"means": means, "product": spread * means[0], "every": x[::2, ::-3]}, None
