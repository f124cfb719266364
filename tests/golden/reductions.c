#include "loops.h"

// multiply_max_isfinite_copy: tests/programs.py:99  "logsumexp": dg.logsumexp(x * 0.5), "count": dg.count_nonzero(k > 2),
// fold over (n*12,)
void k0(dg_call *call, int64_t me, const float *a0, float *y0) {
    const int64_t n_n = call->size[0];
    if (me) return;
    float f2 = (-INFINITY);
    {
        float s2_of[DG_LANES];
        int n2_of[DG_LANES];
        for (int64_t l = 0; l < DG_LANES; l++) {
            s2_of[l] = (-INFINITY);
            n2_of[l] = 0;
        }
        DG_BY_LANES(i0, 0, n_n*12, {
            float s2 = s2_of[l];
            int n2 = n2_of[l];
            const float r0 = a0[i0];
            // tests/programs.py:99  "logsumexp": dg.logsumexp(x * 0.5), "count": dg.count_nonzero(k > 2),
            const float r1 = r0 * 0.5f;
            s2 = r1 > s2 ? r1 : s2;
            n2 |= r1 != r1;
            s2_of[l] = s2;
            n2_of[l] = n2;
        })
        DG_JOIN_LANES({
            s2_of[l] = dg_maximum(s2_of[l], s2_of[half + l]);
            n2_of[l] |= n2_of[half + l];
        })
        const float s2 = s2_of[0];
        const int n2 = n2_of[0];
        f2 = dg_maximum(f2, (n2 ? (float)NAN : s2));
    }
    const float r2 = f2;
    const dg_bool r3 = dg_isfinite(r2);
    const float r4 = r3 ? r2 : 0.0f;
    double f7 = 0.0;
    for (int64_t s = 0; s < n_n*12; s += 4096) {
        const int64_t e = dg_min(s + 4096, n_n*12);
        float s7_of[DG_LANES];
        for (int64_t l = 0; l < DG_LANES; l++) {
            s7_of[l] = 0.0f;
        }
        DG_FOLD_VECTORS(i0, s, e, {
            dg_floats s7 = DG_GET(s7_of[l]);
            const dg_floats r0 = DG_GET(a0[i0]);
            const dg_floats r1 = r0 * 0.5f;
            const dg_floats r5 = r1 - r4;
            const dg_floats r6 = dg_exp(r5);
            s7 += r6;
            DG_PUT(s7_of[l], s7);
        })
        DG_JOIN_LANES({
            s7_of[l] += s7_of[half + l];
        })
        const float s7 = s7_of[0];
        f7 += s7;
    }
    const float r7 = f7;
    const dg_bool r8 = dg_not_equal(r7, 0.0f);
    const float r9 = dg_log(r7);
    const float r10 = r8 ? r9 : (-INFINITY);
    const float r11 = r10 + r4;
    const float r12 = r11;
    y0[0] = r12;
}

// greater_not_equal_sum: tests/programs.py:99  "logsumexp": dg.logsumexp(x * 0.5), "count": dg.count_nonzero(k > 2),
// fold over (n,)
void k1(dg_call *call, int64_t me, int64_t count, const int32_t *a0, char *t0) {
    const int64_t n_n = call->size[0];
    int64_t *const m3 = (int64_t *)(t0 + me * dg_padded(8));
    const int64_t low = dg_share(n_n, 64, me, count);
    const int64_t high = dg_share(n_n, 64, me + 1, count);
    m3[0] = INT64_C(0);
    {
        int64_t s3_of[DG_LANES];
        for (int64_t l = 0; l < DG_LANES; l++) {
            s3_of[l] = INT64_C(0);
        }
        DG_BY_LANES(i0, low, high, {
            int64_t s3 = s3_of[l];
            const int32_t r0 = a0[i0];
            // tests/programs.py:99  "logsumexp": dg.logsumexp(x * 0.5), "count": dg.count_nonzero(k > 2),
            const dg_bool r1 = dg_greater(r0, (int32_t)2);
            const dg_bool r2 = dg_not_equal(dg_to_int64(r1), INT64_C(0));
            s3 += r2;
            s3_of[l] = s3;
        })
        DG_JOIN_LANES({
            s3_of[l] += s3_of[half + l];
        })
        const int64_t s3 = s3_of[0];
        m3[0] += s3;
    }
}

void k1_1(int64_t me, int64_t count, int64_t *y0, char *t0) {
    int64_t *const m3 = (int64_t *)(t0 + me * dg_padded(8));
    if (me) return;
    for (int64_t other = 1; other < count; other++) {
        const int64_t *const part = (const int64_t *)(t0 + other * dg_padded(8));
        m3[0] += part[0];
    }
    // tests/programs.py:99  "logsumexp": dg.logsumexp(x * 0.5), "count": dg.count_nonzero(k > 2),
    const int64_t r3 = m3[0];
    y0[0] = r3;
}

// sum_add: tests/programs.py:100  "total": dg.sum(k) + 1, "any": dg.any(x > 1, 0),
// fold over (n,)
void k2(dg_call *call, int64_t me, int64_t count, const int32_t *a0, char *t0) {
    const int64_t n_n = call->size[0];
    int64_t *const m1 = (int64_t *)(t0 + me * dg_padded(8));
    const int64_t low = dg_share(n_n, 64, me, count);
    const int64_t high = dg_share(n_n, 64, me + 1, count);
    m1[0] = INT64_C(0);
    {
        int64_t s1_of[DG_LANES];
        for (int64_t l = 0; l < DG_LANES; l++) {
            s1_of[l] = INT64_C(0);
        }
        DG_BY_LANES(i0, low, high, {
            int64_t s1 = s1_of[l];
            const int32_t r0 = a0[i0];
            s1 += r0;
            s1_of[l] = s1;
        })
        DG_JOIN_LANES({
            s1_of[l] += s1_of[half + l];
        })
        const int64_t s1 = s1_of[0];
        m1[0] += s1;
    }
}

void k2_1(int64_t me, int64_t count, int64_t *y0, char *t0) {
    int64_t *const m1 = (int64_t *)(t0 + me * dg_padded(8));
    if (me) return;
    for (int64_t other = 1; other < count; other++) {
        const int64_t *const part = (const int64_t *)(t0 + other * dg_padded(8));
        m1[0] += part[0];
    }
    // tests/programs.py:100  "total": dg.sum(k) + 1, "any": dg.any(x > 1, 0),
    const int64_t r1 = m1[0];
    const int64_t r2 = r1 + INT64_C(1);
    y0[0] = r2;
}

// sum_divide: tests/programs.py:98  "mean": dg.mean(x, (0, 2)), "std": dg.std(x, 1, keepdims=True), "best": dg.argmax(x, -1),
// fold over (n, 3, 4)
void k3(dg_call *call, int64_t me, int64_t count, const float *a0, float *y0) {
    const int64_t n_n = call->size[0];
    const int64_t low = dg_share(3, 1, me, count);
    const int64_t high = dg_share(3, 1, me + 1, count);
    for (int64_t i1 = low; i1 < high; i1++) {
        double f1 = 0.0;
        for (int64_t i0 = 0; i0 < n_n; i0++) {
            {
                float s1 = 0.0f;
                #pragma omp simd reduction(+:s1)
                for (int64_t i2 = 0; i2 < 4; i2++) {
                    const float r0 = a0[i0 * 12 + i1 * 4 + i2];
                    s1 += r0;
                }
                f1 += s1;
            }
        }
        // tests/programs.py:98  "mean": dg.mean(x, (0, 2)), "std": dg.std(x, 1, keepdims=True), "best": dg.argmax(x, -1),
        const float r1 = f1;
        const float r2 = r1 / dg_to_float32(n_n*4);
        y0[i1] = r2;
    }
}

// greater_any: tests/programs.py:100  "total": dg.sum(k) + 1, "any": dg.any(x > 1, 0),
// fold over (n, 12)
void k4(dg_call *call, int64_t me, int64_t count, const float *a0, uint8_t *y0) {
    const int64_t n_n = call->size[0];
    dg_bool m2[256];
    const int64_t low = dg_share(12, 64, me, count);
    const int64_t high = dg_share(12, 64, me + 1, count);
    for (int64_t s = low; s < high; s += 256) {
        const int64_t e = dg_min(s + 256, high);
        for (int64_t i1 = s; i1 < e; i1++) {
            m2[(i1 - s)] = 0;
        }
        for (int64_t i0 = 0; i0 < n_n; i0++) {
            #pragma omp simd
            for (int64_t i1 = s; i1 < e; i1++) {
                const float r0 = a0[i0 * 12 + i1];
                // tests/programs.py:100  "total": dg.sum(k) + 1, "any": dg.any(x > 1, 0),
                const dg_bool r1 = dg_greater(r0, 1.0f);
                m2[(i1 - s)] |= r1 != 0;
            }
        }
        #pragma omp simd
        for (int64_t i1 = s; i1 < e; i1++) {
            const dg_bool r2 = m2[(i1 - s)];
            y0[i1] = r2;
        }
    }
}

// sum_divide_subtract_where: tests/programs.py:98  "mean": dg.mean(x, (0, 2)), "std": dg.std(x, 1, keepdims=True), "best": dg.argmax(x, -1),
// fold over (n, 3, 4)
void k5(dg_call *call, int64_t me, int64_t count, const float *a0, float *y0) {
    const int64_t n_n = call->size[0];
    double m1[4];
    double m5[4];
    const int64_t low = dg_share(n_n, 1, me, count);
    const int64_t high = dg_share(n_n, 1, me + 1, count);
    for (int64_t i0 = low; i0 < high; i0++) {
        for (int64_t i2 = 0; i2 < 4; i2++) {
            m1[i2] = 0.0;
        }
        for (int64_t i1 = 0; i1 < 3; i1++) {
            #pragma omp simd
            for (int64_t i2 = 0; i2 < 4; i2++) {
                const float r0 = a0[i0 * 12 + i1 * 4 + i2];
                m1[i2] += r0;
            }
        }
        for (int64_t i2 = 0; i2 < 4; i2++) {
            m5[i2] = 0.0;
        }
        for (int64_t i1 = 0; i1 < 3; i1++) {
            #pragma omp simd
            for (int64_t i2 = 0; i2 < 4; i2++) {
                const float r0 = a0[i0 * 12 + i1 * 4 + i2];
                // tests/programs.py:98  "mean": dg.mean(x, (0, 2)), "std": dg.std(x, 1, keepdims=True), "best": dg.argmax(x, -1),
                const float r1 = m1[i2];
                const float r2 = r1 / 3.0f;
                const float r3 = r0 - r2;
                const float r4 = r3 * r3;
                m5[i2] += r4;
            }
        }
        #pragma omp simd
        for (int64_t i2 = 0; i2 < 4; i2++) {
            const float r5 = m5[i2];
            const float r6 = r5 / 3.0f;
            const dg_bool r7 = dg_greater(r6, 0.0f);
            const float r8 = dg_sqrt(r6);
            const float r9 = r7 ? r8 : r6;
            y0[i0 * 4 + i2] = r9;
        }
    }
}

// argmax: tests/programs.py:98  "mean": dg.mean(x, (0, 2)), "std": dg.std(x, 1, keepdims=True), "best": dg.argmax(x, -1),
// call over (n, 3)
void k6(dg_call *call, int64_t me, int64_t count, const float *a0, int64_t *restrict y0) {
    const int64_t n_n = call->size[0];
    const int64_t low0 = dg_share(n_n, 1, me, count);
    const int64_t high0 = dg_share(n_n, 1, me + 1, count);
    for (int64_t i0 = low0; i0 < high0; i0++) {
        for (int64_t i1 = 0; i1 < 3; i1++) {
            float best = (-INFINITY);
            int64_t where = 0;
            for (int64_t s = 0; s < 4; s += 256) {
                const int64_t e = dg_min(s + 256, 4);
                float top = (-INFINITY);
                int nan = 0;
                #pragma omp simd reduction(max:top) reduction(|:nan)
                for (int64_t k = s; k < e; k++) {
                    const float x = a0[i0 * 12 + i1 * 4 + k];
                    top = x > top ? x : top;
                    nan |= x != x;
                }
                if (best == best && (nan || top > best)) {
                    for (int64_t k = s; k < e; k++) {
                        const float x = a0[i0 * 12 + i1 * 4 + k];
                        if (nan ? x != x : x == top) {
                            best = x;
                            where = k;
                            break;
                        }
                    }
                }
            }
            y0[i0 * 3 + i1] = where;
        }
    }
}

static void run0(dg_call *call, int stage, int me, int count) {
    const int64_t n_n = call->size[0];
    switch (stage) {
        case 0: {
            const int few = n_n*216 + 19 < 262144 ? 1 : count;
            if (me >= few) return;
            // multiply_max_isfinite_copy: tests/programs.py:99  "logsumexp": dg.logsumexp(x * 0.5), "count": dg.count_nonzero(k > 2),
            k0(call, me, (const float *)call->at[0], (float *)call->at[5]);
            return;
        }
        case 1: {
            const int few = n_n*7 + 8 < 262144 ? 1 : count;
            if (me >= few) return;
            // greater_not_equal_sum: tests/programs.py:99  "logsumexp": dg.logsumexp(x * 0.5), "count": dg.count_nonzero(k > 2),
            k1(call, me, few, (const int32_t *)call->at[1], call->at[9]);
            return;
        }
        case 2: {
            const int few = n_n*7 + 8 < 262144 ? 1 : count;
            if (me >= few) return;
            k1_1(me, few, (int64_t *)call->at[6], call->at[9]);
            return;
        }
        case 3: {
            const int few = n_n*5 + 9 < 262144 ? 1 : count;
            if (me >= few) return;
            // sum_add: tests/programs.py:100  "total": dg.sum(k) + 1, "any": dg.any(x > 1, 0),
            k2(call, me, few, (const int32_t *)call->at[1], call->at[10]);
            return;
        }
        case 4: {
            const int few = n_n*5 + 9 < 262144 ? 1 : count;
            if (me >= few) return;
            k2_1(me, few, (int64_t *)call->at[7], call->at[10]);
            return;
        }
        case 5: {
            const int few = n_n*60 + 15 < 262144 ? 1 : count;
            if (me >= few) return;
            // sum_divide: tests/programs.py:98  "mean": dg.mean(x, (0, 2)), "std": dg.std(x, 1, keepdims=True), "best": dg.argmax(x, -1),
            k3(call, me, few, (const float *)call->at[0], (float *)call->at[2]);
            return;
        }
        case 6: {
            const int few = n_n*72 + 12 < 262144 ? 1 : count;
            if (me >= few) return;
            // greater_any: tests/programs.py:100  "total": dg.sum(k) + 1, "any": dg.any(x > 1, 0),
            k4(call, me, few, (const float *)call->at[0], (uint8_t *)call->at[8]);
            return;
        }
        case 7: {
            const int few = n_n*132 < 262144 ? 1 : count;
            if (me >= few) return;
            // sum_divide_subtract_where: tests/programs.py:98  "mean": dg.mean(x, (0, 2)), "std": dg.std(x, 1, keepdims=True), "best": dg.argmax(x, -1),
            k5(call, me, few, (const float *)call->at[0], (float *)call->at[3]);
            return;
        }
        case 8: {
            const int few = n_n*84 < 262144 ? 1 : count;
            if (me >= few) return;
            // argmax: tests/programs.py:98  "mean": dg.mean(x, (0, 2)), "std": dg.std(x, 1, keepdims=True), "best": dg.argmax(x, -1),
            k6(call, me, few, (const float *)call->at[0], (int64_t *)call->at[4]);
            return;
        }
    }
}
const dg_part part0 = {9, run0};



def step(x, k, out_mean, out_std, out_best, out_logsumexp, out_count, out_total, out_any):
    part0(x, k, out_mean, out_std, out_best, out_logsumexp, out_count, out_total, out_any)
    # multiply_max_isfinite_copy: tests/programs.py:99  "logsumexp": dg.logsumexp(x * 0.5), "count": dg.count_nonzero(k > 2),
    # greater_not_equal_sum: tests/programs.py:99  "logsumexp": dg.logsumexp(x * 0.5), "count": dg.count_nonzero(k > 2),
    # sum_add: tests/programs.py:100  "total": dg.sum(k) + 1, "any": dg.any(x > 1, 0),
    # sum_divide: tests/programs.py:98  "mean": dg.mean(x, (0, 2)), "std": dg.std(x, 1, keepdims=True), "best": dg.argmax(x, -1),
    # greater_any: tests/programs.py:100  "total": dg.sum(k) + 1, "any": dg.any(x > 1, 0),
    # sum_divide_subtract_where: tests/programs.py:98  "mean": dg.mean(x, (0, 2)), "std": dg.std(x, 1, keepdims=True), "best": dg.argmax(x, -1),
    # argmax: tests/programs.py:98  "mean": dg.mean(x, (0, 2)), "std": dg.std(x, 1, keepdims=True), "best": dg.argmax(x, -1),
