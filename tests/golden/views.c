#include "loops.h"

// copy: tests/programs.py:70  left, right = x[:, :3], dg.flip(x[:, 3:], 1)
// map over (n, 3)
void k0(dg_call *call, int64_t me, int64_t count, const float *a0, float *y0) {
    const int64_t n_n = call->size[0];
    const int64_t low = dg_share(n_n, 1, me, count);
    const int64_t high = dg_share(n_n, 1, me + 1, count);
    for (int64_t i0 = low; i0 < high; i0++) {
        #pragma omp simd
        for (int64_t i1 = 0; i1 < 3; i1++) {
            const float r0 = a0[i0 * 6 + i1];
            // tests/programs.py:70  left, right = x[:, :3], dg.flip(x[:, 3:], 1)
            const float r1 = r0;
            y0[i0 * 3 + i1] = r1;
        }
    }
}

// multiply_copy: tests/programs.py:71  turned = dg.permute_dims(left * right)
// map over (3, n)
void k1(dg_call *call, int64_t me, int64_t count, const float *a0, const float *a1, float *y0, float *y1) {
    const int64_t n_n = call->size[0];
    const int64_t low = dg_share(n_n, 64, me, count);
    const int64_t high = dg_share(n_n, 64, me + 1, count);
    for (int64_t i0 = 0; i0 < 3; i0++) {
        #pragma omp simd
        for (int64_t i1 = low; i1 < high; i1++) {
            const float r0 = a0[i0 + i1 * 6];
            const float r1 = a1[i0 * (-1) + i1 * 6 + 5];
            // tests/programs.py:71  turned = dg.permute_dims(left * right)
            const float r2 = r0 * r1;
            y0[i0 * n_n + i1] = r2;
            const float r3 = r2;
            y1[i0 * n_n + i1] = r3;
        }
    }
}

// add: tests/programs.py:72  whole = dg.concat([dg.reshape(turned, (-1,)), dg.reshape(left, (-1,)) + 1])
// map over (n*3,)
void k2(int64_t me, int64_t count, const float *a0, float *y0, int64_t n) {
    const int64_t low = dg_share(n, 64, me, count);
    const int64_t high = dg_share(n, 64, me + 1, count);
    #pragma omp simd
    for (int64_t i0 = low; i0 < high; i0++) {
        const float r0 = a0[i0];
        // tests/programs.py:72  whole = dg.concat([dg.reshape(turned, (-1,)), dg.reshape(left, (-1,)) + 1])
        const float r1 = r0 + 1.0f;
        y0[i0] = r1;
    }
}

// concat: tests/programs.py:72  whole = dg.concat([dg.reshape(turned, (-1,)), dg.reshape(left, (-1,)) + 1])
// call over (n*6,)
void k3(dg_call *call, int64_t me, int64_t count, const float *a0, const float *a1, float *restrict y0) {
    const int64_t n_n = call->size[0];
    const int64_t low1 = dg_share(n_n*3, 16, me, count);
    const int64_t high1 = dg_share(n_n*3, 16, me + 1, count);
    const int64_t low3 = dg_share(n_n*3, 16, me, count);
    const int64_t high3 = dg_share(n_n*3, 16, me + 1, count);
    #pragma omp simd
    for (int64_t i0 = low1; i0 < high1; i0++) {
        y0[i0] = a0[i0];
    }
    #pragma omp simd
    for (int64_t i2 = low3; i2 < high3; i2++) {
        y0[i2 + n_n*3] = a1[i2];
    }
}

// copy: tests/programs.py:73  return {"turned": turned, "whole": whole, "last": x[-1]}, None
// map over (6,)
void k4(dg_call *call, int64_t me, int64_t count, const float *a0, float *y0, int64_t n) {
    const int64_t n_n = call->size[0];
    const int64_t low = dg_share(n, 64, me, count);
    const int64_t high = dg_share(n, 64, me + 1, count);
    #pragma omp simd
    for (int64_t i0 = low; i0 < high; i0++) {
        const float r0 = a0[i0 + n_n*6 - 6];
        // tests/programs.py:73  return {"turned": turned, "whole": whole, "last": x[-1]}, None
        const float r1 = r0;
        y0[i0] = r1;
    }
}

static void run0(dg_call *call, int stage, int me, int count) {
    const int64_t n_n = call->size[0];
    switch (stage) {
        case 0: {
            const int few = n_n*24 < 262144 ? 1 : count;
            if (me >= few) return;
            // copy: tests/programs.py:70  left, right = x[:, :3], dg.flip(x[:, 3:], 1)
            k0(call, me, few, (const float *)call->at[0], (float *)call->at[4]);
            return;
        }
        case 1: {
            const int few = n_n*51 < 262144 ? 1 : count;
            if (me >= few) return;
            // multiply_copy: tests/programs.py:71  turned = dg.permute_dims(left * right)
            k1(call, me, few, (const float *)call->at[0], (const float *)call->at[0], (float *)call->at[5], (float *)call->at[1]);
            return;
        }
        case 2: {
            const int few = n_n*27 < 262144 ? 1 : count;
            if (me >= few) return;
            // add: tests/programs.py:72  whole = dg.concat([dg.reshape(turned, (-1,)), dg.reshape(left, (-1,)) + 1])
            k2(me, few, (const float *)call->at[4], (float *)call->at[4], n_n*3);
            return;
        }
        case 3: {
            const int few = n_n*48 < 262144 ? 1 : count;
            if (me >= few) return;
            // concat: tests/programs.py:72  whole = dg.concat([dg.reshape(turned, (-1,)), dg.reshape(left, (-1,)) + 1])
            k3(call, me, few, (const float *)call->at[5], (const float *)call->at[4], (float *)call->at[2]);
            return;
        }
        case 4: {
            if (me >= 1) return;
            // copy: tests/programs.py:73  return {"turned": turned, "whole": whole, "last": x[-1]}, None
            k4(call, me, 1, (const float *)call->at[0], (float *)call->at[3], 6);
            return;
        }
    }
}
const dg_part part0 = {5, run0};



def step(x, out_turned, out_whole, out_last):
    part0(x, out_turned, out_whole, out_last)
    # copy: tests/programs.py:70  left, right = x[:, :3], dg.flip(x[:, 3:], 1)
    # multiply_copy: tests/programs.py:71  turned = dg.permute_dims(left * right)
    # add: tests/programs.py:72  whole = dg.concat([dg.reshape(turned, (-1,)), dg.reshape(left, (-1,)) + 1])
    # concat: tests/programs.py:72  whole = dg.concat([dg.reshape(turned, (-1,)), dg.reshape(left, (-1,)) + 1])
    # copy: tests/programs.py:73  return {"turned": turned, "whole": whole, "last": x[-1]}, None
