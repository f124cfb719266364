#include "loops.h"
#include "matmul.h"

// add_astype_pow_multiply: Adam.w tests/programs.py:57  return (), optim.Adam(lr=0.001).updates(loss, [w, b])
// map over ()
void k0(int64_t me, const int64_t *a0, const float *a1, int64_t *y0, float *y1, float *y2) {
    if (me) return;
    const int64_t r0 = a0[0];
    const float r1 = a1[0];
    // tests/programs.py:57  return (), optim.Adam(lr=0.001).updates(loss, [w, b])
    const int64_t r2 = r0 + INT64_C(1);
    y0[0] = r2;
    const double r3 = dg_to_float64(r2);
    const double r4 = dg_pow(0.999, r3);
    const double r5 = 1.0 - r4;
    const double r6 = dg_sqrt(r5);
    const double r7 = dg_pow(0.9, r3);
    const double r8 = 1.0 - r7;
    const double r9 = r6 / r8;
    const float r10 = dg_to_float32(r9);
    const float r11 = r1 * r10;
    y1[0] = r11;
    const double r12 = 1e-08 * r6;
    const float r13 = dg_to_float32(r12);
    y2[0] = r13;
}

// matmul: tests/programs.py:56  loss = dg.mean((dg.asarray(np.eye(2, 4, dtype="f")) @ w + b) ** 2)
// call over (2, 3)
void k1(dg_call *call, int64_t me, int64_t count, const float *a0, const float *a1, float *restrict y0) {
    dg_matmul_float32(call, me, count, 2, 3, 4, a0, 4, 1, a1, 3, 1, y0, 3, 1);
}

// add_multiply_sum_subtract: Adam.b tests/programs.py:57  return (), optim.Adam(lr=0.001).updates(loss, [w, b])
// row over (2, 3)
void k2(int64_t me, int64_t count, const float *a0, const float *a1, const float *a2, const float *a3, const float *a4, const float *a5, const float *a6, float *y0, float *y1, float *y2, float *y3) {
    double m10[3];
    const int64_t low = dg_share(3, 64, me, count);
    const int64_t high = dg_share(3, 64, me + 1, count);
    for (int64_t i1 = low; i1 < high; i1++) {
        m10[i1] = 0.0;
    }
    for (int64_t i0 = 0; i0 < 2; i0++) {
        #pragma omp simd
        for (int64_t i1 = low; i1 < high; i1++) {
            const float r0 = a0[i0 * 3 + i1];
            const float r1 = a1[i1];
            const float r2 = a2[i0 * 3 + i1];
            // tests/programs.py:56  loss = dg.mean((dg.asarray(np.eye(2, 4, dtype="f")) @ w + b) ** 2)
            const float r7 = r0 + r1;
            const float r8 = r2 * r7;
            y0[i0 * 3 + i1] = r8;
            m10[i1] += r8;
        }
    }
    const float r5 = a5[0];
    const float r6 = a6[0];
    #pragma omp simd
    for (int64_t i1 = low; i1 < high; i1++) {
        const float r1 = a1[i1];
        const float r3 = a3[i1];
        const float r4 = a4[i1];
        // tests/programs.py:57  return (), optim.Adam(lr=0.001).updates(loss, [w, b])
        const float r9 = 0.9f * r3;
        // tests/programs.py:56  loss = dg.mean((dg.asarray(np.eye(2, 4, dtype="f")) @ w + b) ** 2)
        const float r10 = m10[i1];
        // tests/programs.py:57  return (), optim.Adam(lr=0.001).updates(loss, [w, b])
        const float r11 = 0.999f * r4;
        const float r12 = 0.1f * r10;
        const float r13 = r9 + r12;
        y1[i1] = r13;
        const float r14 = r10 * r10;
        const float r15 = 0.001f * r14;
        const float r16 = r11 + r15;
        y2[i1] = r16;
        const float r17 = r5 * r13;
        const float r18 = dg_sqrt(r16);
        const float r19 = r18 + r6;
        const float r20 = r17 / r19;
        const float r21 = r1 - r20;
        y3[i1] = r21;
    }
}

// matmul_multiply_add_subtract: Adam.w tests/programs.py:57  return (), optim.Adam(lr=0.001).updates(loss, [w, b])
// call over (4, 3)
void k3_slice(const float *a0, const float *a1, const float *a2, const float *a3, const float *a4, const float *a5, float *y0, float *y1, float *y2, int64_t top, int64_t bottom, int64_t left, int64_t right, int64_t n_tile) {
    const float r2 = a2[0];
    const float r3 = a3[0];
    for (int64_t i0 = top; i0 < bottom; i0++) {
        #pragma omp simd
        for (int64_t i1 = left; i1 < right; i1++) {
            const float r0 = a0[i0 * 3 + i1];
            const float r1 = a1[i0 * 3 + i1];
            const float r4 = a4[i0 * 3 + i1];
            const float r5 = a5[i0 * n_tile + i1];
            // tests/programs.py:57  return (), optim.Adam(lr=0.001).updates(loss, [w, b])
            const float r6 = 0.9f * r0;
            const float r7 = 0.1f * r5;
            const float r8 = r6 + r7;
            y0[i0 * 3 + i1] = r8;
            const float r9 = 0.999f * r1;
            const float r10 = r5 * r5;
            const float r11 = 0.001f * r10;
            const float r12 = r9 + r11;
            y1[i0 * 3 + i1] = r12;
            const float r13 = r2 * r8;
            const float r14 = dg_sqrt(r12);
            const float r15 = r14 + r3;
            const float r16 = r13 / r15;
            const float r17 = r4 - r16;
            y2[i0 * 3 + i1] = r17;
        }
    }
}

void k3(dg_call *call, int64_t me, int64_t count, const float *a0, const float *a1, const float *a2, const float *a3, const float *a4, const float *a5, const float *a6, float *y0, float *y1, float *y2) {
    _Alignas(64) float tile[DG_TILE / sizeof(float)];
    const dg_slice s = dg_slice_of(4, 3, sizeof *tile, me, count);
    for (int64_t top = s.r0; top < s.r1; top += s.high) {
        for (int64_t left = s.c0; left < s.c1; left += s.wide) {
            const int64_t bottom = dg_min(top + s.high, s.r1);
            const int64_t right = dg_min(left + s.wide, s.c1), n_tile = right - left;
            dg_multiply_float32(call, bottom - top, n_tile, 2, a0 + top, 1, 4, a1 + left, 3, 1, tile, n_tile, 1);
            k3_slice(a2, a3, a4, a5, a6, tile - top * n_tile - left, y0, y1, y2, top, bottom, left, right, n_tile);
        }
    }
}

static void run0(dg_call *call, int stage, int me, int count) {
    (void)count;
    switch (stage) {
        case 0: {
            if (me >= 1) return;
            // add_astype_pow_multiply: Adam.w tests/programs.py:57  return (), optim.Adam(lr=0.001).updates(loss, [w, b])
            k0(me, (const int64_t *)call->at[0], (const float *)call->at[5], (int64_t *)call->at[0], (float *)call->at[10], (float *)call->at[11]);
            // matmul: tests/programs.py:56  loss = dg.mean((dg.asarray(np.eye(2, 4, dtype="f")) @ w + b) ** 2)
            k1(call, me, 1, (const float *)call->at[8], (const float *)call->at[2], (float *)call->at[12]);
            // add_multiply_sum_subtract: Adam.b tests/programs.py:57  return (), optim.Adam(lr=0.001).updates(loss, [w, b])
            k2(me, 1, (const float *)call->at[12], (const float *)call->at[3], (const float *)call->at[9], (const float *)call->at[6], (const float *)call->at[7], (const float *)call->at[10], (const float *)call->at[11], (float *)call->at[12], (float *)call->at[6], (float *)call->at[7], (float *)call->at[13]);
            // matmul_multiply_add_subtract: Adam.w tests/programs.py:57  return (), optim.Adam(lr=0.001).updates(loss, [w, b])
            k3(call, me, 1, (const float *)call->at[8], (const float *)call->at[12], (const float *)call->at[1], (const float *)call->at[4], (const float *)call->at[10], (const float *)call->at[11], (const float *)call->at[2], (float *)call->at[1], (float *)call->at[4], (float *)call->at[2]);
            return;
        }
    }
}
const dg_part part0 = {1, run0};

iteration, mean_w, w, b, square_w, lr, mean_b, square_b, = parameters
c0, c1, = constants
v0 = slot(3, (3,), 'float32')


def step():
    part0()
    # add_astype_pow_multiply: Adam.w tests/programs.py:57  return (), optim.Adam(lr=0.001).updates(loss, [w, b])
    # matmul: tests/programs.py:56  loss = dg.mean((dg.asarray(np.eye(2, 4, dtype="f")) @ w + b) ** 2)
    # add_multiply_sum_subtract: Adam.b tests/programs.py:57  return (), optim.Adam(lr=0.001).updates(loss, [w, b])
    # matmul_multiply_add_subtract: Adam.w tests/programs.py:57  return (), optim.Adam(lr=0.001).updates(loss, [w, b])
    # new values
    np.copyto(b, v0)
