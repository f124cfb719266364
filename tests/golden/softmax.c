#include "loops.h"

// max_subtract_exp_multiply: tests/programs.py:40  y = dg.softmax(x)
// row over (n, 5)
void k0(dg_call *call, int64_t me, int64_t count, const float *a0, float *y0, float *y1) {
    const int64_t n_n = call->size[0];
    const int64_t low = dg_share(n_n, 1, me, count);
    const int64_t high = dg_share(n_n, 1, me + 1, count);
    for (int64_t s = low; s < high; s += 4) {
        const int64_t e = dg_min(s + 4, high);
        float r1_of[4];
        for (int64_t i0 = s; i0 < e; i0++) {
            float f1 = (-INFINITY);
            {
                float s1 = (-INFINITY);
                int n1 = 0;
                #pragma omp simd reduction(max:s1) reduction(|:n1)
                for (int64_t i1 = 0; i1 < 5; i1++) {
                    const float r0 = a0[i0 * 5 + i1];
                    s1 = r0 > s1 ? r0 : s1;
                    n1 |= r0 != r0;
                }
                f1 = dg_maximum(f1, (n1 ? (float)NAN : s1));
            }
            // tests/programs.py:40  y = dg.softmax(x)
            const float r1 = f1;
            r1_of[i0 - s] = r1;
        }
        float r4_of[4];
        for (int64_t i0 = s; i0 < e; i0++) {
            const float r1 = r1_of[i0 - s];
            double f4 = 0.0;
            {
                float s4 = 0.0f;
                #pragma omp simd reduction(+:s4)
                for (int64_t i1 = 0; i1 < 5; i1++) {
                    const float r0 = a0[i0 * 5 + i1];
                    const float r2 = r0 - r1;
                    const float r3 = dg_exp(r2);
                    y1[i0 * 5 + i1] = r3;
                    s4 += r3;
                }
                f4 += s4;
            }
            const float r4 = f4;
            r4_of[i0 - s] = r4;
        }
        float r8_of[4];
        for (int64_t i0 = s; i0 < e; i0++) {
            const float r4 = r4_of[i0 - s];
            double f8 = 0.0;
            {
                float s8 = 0.0f;
                #pragma omp simd reduction(+:s8)
                for (int64_t i1 = 0; i1 < 5; i1++) {
                    const float r5 = (y1[i0 * 5 + i1]) / r4;
                    y0[i0 * 5 + i1] = r5;
                    // tests/programs.py:41  return {"y": y, "dx": dg.grad(dg.sum(y * y), x)}, None
                    const float r6 = 2.0f * r5;
                    s8 = dg_fma(r6, r5, s8);
                }
                f8 += s8;
            }
            // tests/programs.py:40  y = dg.softmax(x)
            const float r8 = f8;
            r8_of[i0 - s] = r8;
        }
        for (int64_t i0 = s; i0 < e; i0++) {
            const float r4 = r4_of[i0 - s];
            const float r8 = r8_of[i0 - s];
            #pragma omp simd
            for (int64_t i1 = 0; i1 < 5; i1++) {
                const float r5 = (y1[i0 * 5 + i1]) / r4;
                // tests/programs.py:41  return {"y": y, "dx": dg.grad(dg.sum(y * y), x)}, None
                const float r6 = 2.0f * r5;
                // tests/programs.py:40  y = dg.softmax(x)
                const float r9 = r6 - r8;
                const float r10 = r9 * r5;
                y1[i0 * 5 + i1] = r10;
            }
        }
    }
}

static void run0(dg_call *call, int stage, int me, int count) {
    const int64_t n_n = call->size[0];
    switch (stage) {
        case 0: {
            const int few = n_n*155 < 262144 ? 1 : count;
            if (me >= few) return;
            // max_subtract_exp_multiply: tests/programs.py:40  y = dg.softmax(x)
            k0(call, me, few, (const float *)call->at[0], (float *)call->at[1], (float *)call->at[2]);
            return;
        }
    }
}
const dg_part part0 = {1, run0};



def step(x, out_y, out_dx):
    part0(x, out_y, out_dx)
    # max_subtract_exp_multiply: tests/programs.py:40  y = dg.softmax(x)
