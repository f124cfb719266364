#include "loops.h"

// sum_divide_subtract_maximum: tests/programs.py:48  y = nn.layer_norm(x, weight, bias)
// row over (n, 5)
void k0(dg_call *call, int64_t me, int64_t count, const float *a0, const float *a1, const float *a2, float *y0, float *y1, char *t0, char *t1) {
    const int64_t n_n = call->size[0];
    double *const m35 = (double *)(t0 + me * dg_padded(40));
    double *const m36 = (double *)(t1 + me * dg_padded(40));
    float m30[5];
    const int64_t low = dg_share(n_n, 1, me, count);
    const int64_t high = dg_share(n_n, 1, me + 1, count);
    for (int64_t i1 = 0; i1 < 5; i1++) {
        m35[i1] = 0.0;
    }
    for (int64_t i1 = 0; i1 < 5; i1++) {
        m36[i1] = 0.0;
    }
    for (int64_t i0 = low; i0 < high; i0++) {
        double f3 = 0.0;
        {
            float s3 = 0.0f;
            #pragma omp simd reduction(+:s3)
            for (int64_t i1 = 0; i1 < 5; i1++) {
                const float r0 = a0[i0 * 5 + i1];
                s3 += r0;
            }
            f3 += s3;
        }
        // tests/programs.py:48  y = nn.layer_norm(x, weight, bias)
        const float r3 = f3;
        const float r4 = r3 / 5.0f;
        double f7 = 0.0;
        {
            float s7 = 0.0f;
            #pragma omp simd reduction(+:s7)
            for (int64_t i1 = 0; i1 < 5; i1++) {
                const float r0 = a0[i0 * 5 + i1];
                const float r5 = r0 - r4;
                s7 = dg_fma(r5, r5, s7);
            }
            f7 += s7;
        }
        const float r7 = f7;
        const float r8 = r7 / 5.0f;
        const float r9 = r8 + 1e-05f;
        const float r10 = dg_sqrt(r9);
        const float r11 = 1.0f / r10;
        double f22 = 0.0;
        {
            float s22 = 0.0f;
            #pragma omp simd reduction(+:s22)
            for (int64_t i1 = 0; i1 < 5; i1++) {
                const float r0 = a0[i0 * 5 + i1];
                const float r1 = a1[i1];
                const float r2 = a2[i1];
                const float r5 = r0 - r4;
                const float r12 = r5 * r11;
                const float r13 = r12 * r1;
                // tests/programs.py:48  y = nn.layer_norm(x, weight, bias); also tests/programs.py:49  dx, dw, db = dg.grad(dg.sum(y * dg.sin(y)), [x, weight, bias])
                const float r14 = r13 + r2;
                y0[i0 * 5 + i1] = r14;
                // tests/programs.py:49  dx, dw, db = dg.grad(dg.sum(y * dg.sin(y)), [x, weight, bias])
                const float r15 = dg_sin(r14);
                const float r16 = dg_cos(r14);
                const float r17 = r14 * r16;
                const float r18 = r15 + r17;
                // tests/programs.py:48  y = nn.layer_norm(x, weight, bias)
                const float r19 = r18 * r1;
                const float r20 = r19 * r11;
                y1[i0 * 5 + i1] = r20;
                s22 = dg_fma(r19, r5, s22);
                const float r34 = r18 * r12;
                m35[i1] += r34;
                m36[i1] += r18;
            }
            f22 += s22;
        }
        const float r22 = f22;
        const float r23 = r22 / r10;
        const float r24 = r23 * r11;
        const float r25 = r24 * (-0.5f);
        const float r26 = dg_maximum(r10, 1e-45f);
        const float r27 = r25 / r26;
        const float r28 = r27 / 2.5f;
        double f31 = 0.0;
        {
            float s31 = 0.0f;
            #pragma omp simd reduction(+:s31)
            for (int64_t i1 = 0; i1 < 5; i1++) {
                const float r0 = a0[i0 * 5 + i1];
                const float r5 = r0 - r4;
                const float r29 = r28 * r5;
                const float r30 = (y1[i0 * 5 + i1]) + r29;
                m30[i1] = r30;
                s31 += r30;
            }
            f31 += s31;
        }
        const float r31 = f31;
        const float r32 = r31 / (-5.0f);
        #pragma omp simd
        for (int64_t i1 = 0; i1 < 5; i1++) {
            const float r33 = (m30[i1]) + r32;
            y1[i0 * 5 + i1] = r33;
        }
    }
}

void k0_1(int64_t me, int64_t count, float *y2, float *y3, char *t0, char *t1) {
    double *const m35 = (double *)(t0 + me * dg_padded(40));
    double *const m36 = (double *)(t1 + me * dg_padded(40));
    if (me) return;
    for (int64_t other = 1; other < count; other++) {
        const double *const part = (const double *)(t0 + other * dg_padded(40));
        for (int64_t i1 = 0; i1 < 5; i1++) {
            m35[i1] += part[i1];
        }
    }
    for (int64_t other = 1; other < count; other++) {
        const double *const part = (const double *)(t1 + other * dg_padded(40));
        for (int64_t i1 = 0; i1 < 5; i1++) {
            m36[i1] += part[i1];
        }
    }
    #pragma omp simd
    for (int64_t i1 = 0; i1 < 5; i1++) {
        // tests/programs.py:48  y = nn.layer_norm(x, weight, bias)
        const float r35 = m35[i1];
        y2[i1] = r35;
        const float r36 = m36[i1];
        y3[i1] = r36;
    }
}

static void run0(dg_call *call, int stage, int me, int count) {
    const int64_t n_n = call->size[0];
    switch (stage) {
        case 0: {
            const int few = n_n*272 + 80 < 262144 ? 1 : count;
            if (me >= few) return;
            // sum_divide_subtract_maximum: tests/programs.py:48  y = nn.layer_norm(x, weight, bias)
            k0(call, me, few, (const float *)call->at[0], (const float *)call->at[5], (const float *)call->at[6], (float *)call->at[1], (float *)call->at[2], call->at[7], call->at[8]);
            return;
        }
        case 1: {
            const int few = n_n*272 + 80 < 262144 ? 1 : count;
            if (me >= few) return;
            k0_1(me, few, (float *)call->at[3], (float *)call->at[4], call->at[7], call->at[8]);
            return;
        }
    }
}
const dg_part part0 = {2, run0};

weight, bias, = parameters


def step(x, out_y, out_dx, out_dw, out_db):
    part0(x, out_y, out_dx, out_dw, out_db)
    # sum_divide_subtract_maximum: tests/programs.py:48  y = nn.layer_norm(x, weight, bias)
