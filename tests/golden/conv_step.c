#include "loops.h"
#include "matmul.h"
#include "indexing.h"

// pad: 0 tests/programs.py:33  loss = nn.softmax_cross_entropy(model(x, training=True), t)
// call over (1, 10, 10, batch)
static void k0(dg_call *call, int64_t me, int64_t count, const float *a0, float *restrict y0) {
    const int64_t n_batch = call->size[0];
    const int64_t low1 = dg_share(n_batch*10, 16, me, count);
    const int64_t high1 = dg_share(n_batch*10, 16, me + 1, count);
    const int64_t low3 = dg_share(n_batch*10, 16, me, count);
    const int64_t high3 = dg_share(n_batch*10, 16, me + 1, count);
    const int64_t low6 = dg_share(8, 1, me, count);
    const int64_t high6 = dg_share(8, 1, me + 1, count);
    const int64_t low9 = dg_share(8, 1, me, count);
    const int64_t high9 = dg_share(8, 1, me + 1, count);
    const int64_t low13 = dg_share(8, 1, me, count);
    const int64_t high13 = dg_share(8, 1, me + 1, count);
    #pragma omp simd
    for (int64_t i0 = low1; i0 < high1; i0++) {
        y0[i0] = 0.0f;
    }
    #pragma omp simd
    for (int64_t i2 = low3; i2 < high3; i2++) {
        y0[i2 + n_batch*90] = 0.0f;
    }
    for (int64_t i4 = low6; i4 < high6; i4++) {
        #pragma omp simd
        for (int64_t i5 = 0; i5 < n_batch; i5++) {
            y0[i4 * (n_batch*10) + i5 + n_batch*10] = 0.0f;
        }
    }
    for (int64_t i7 = low9; i7 < high9; i7++) {
        #pragma omp simd
        for (int64_t i8 = 0; i8 < n_batch; i8++) {
            y0[i7 * (n_batch*10) + i8 + n_batch*19] = 0.0f;
        }
    }
    for (int64_t i10 = low13; i10 < high13; i10++) {
        for (int64_t i11 = 0; i11 < 8; i11++) {
            #pragma omp simd
            for (int64_t i12 = 0; i12 < n_batch; i12++) {
                y0[i10 * (n_batch*10) + i11 * n_batch + i12 + n_batch*11] = a0[i10 * 8 + i11 + i12 * 64];
            }
        }
    }
}

// copy: 0 tests/programs.py:33  loss = nn.softmax_cross_entropy(model(x, training=True), t)
// map over (1, 3, 3, 8, batch*8)
static void k1(dg_call *call, int64_t me, int64_t count, const float *a0, float *y0) {
    const int64_t n_batch = call->size[0];
    const int64_t low = dg_share(n_batch*8, 64, me, count);
    const int64_t high = dg_share(n_batch*8, 64, me + 1, count);
    for (int64_t i0 = 0; i0 < 1; i0++) {
        for (int64_t i1 = 0; i1 < 3; i1++) {
            for (int64_t i2 = 0; i2 < 3; i2++) {
                for (int64_t i3 = 0; i3 < 8; i3++) {
                    #pragma omp simd
                    for (int64_t i4 = low; i4 < high; i4++) {
                        const float r0 = a0[i0 * (n_batch*100) + i1 * (n_batch*10) + i2 * n_batch + i3 * (n_batch*10) + i4];
                        // tests/programs.py:33  loss = nn.softmax_cross_entropy(model(x, training=True), t)
                        const float r1 = r0;
                        y0[i0 * (n_batch*576) + i1 * (n_batch*192) + i2 * (n_batch*64) + i3 * (n_batch*8) + i4] = r1;
                    }
                }
            }
        }
    }
}

// matmul: 0 tests/programs.py:33  loss = nn.softmax_cross_entropy(model(x, training=True), t)
// call over (8, 4, batch*8)
static void k2(dg_call *call, int64_t me, int64_t count, const float *a0, const float *a1, float *restrict y0) {
    const int64_t n_batch = call->size[0];
    const int64_t low = dg_share(8, 1, me, count);
    const int64_t high = dg_share(8, 1, me + 1, count);
    for (int64_t i0 = low; i0 < high; i0++) {
        dg_matmul_float32(call, 0, 1, 4, n_batch*8, 9, a0, 9, 1, a1 + i0 * (n_batch*8), n_batch*64, 1, y0 + i0 * (n_batch*32), n_batch*8, 1);
    }
}

// add: 0 tests/programs.py:33  loss = nn.softmax_cross_entropy(model(x, training=True), t)
// map over (8, 4, batch*8)
static void k3(dg_call *call, int64_t me, int64_t count, const float *a0, const float *a1, float *y0) {
    const int64_t n_batch = call->size[0];
    const int64_t low = dg_share(n_batch*8, 64, me, count);
    const int64_t high = dg_share(n_batch*8, 64, me + 1, count);
    for (int64_t i0 = 0; i0 < 8; i0++) {
        for (int64_t i1 = 0; i1 < 4; i1++) {
            const float r1 = a1[i1];
            #pragma omp simd
            for (int64_t i2 = low; i2 < high; i2++) {
                const float r0 = a0[i0 * (n_batch*32) + i1 * (n_batch*8) + i2];
                // tests/programs.py:33  loss = nn.softmax_cross_entropy(model(x, training=True), t)
                const float r2 = r0 + r1;
                y0[i0 * (n_batch*32) + i1 * (n_batch*8) + i2] = r2;
            }
        }
    }
}

// relu: tests/programs.py:33  loss = nn.softmax_cross_entropy(model(x, training=True), t)
// map over (batch*256,)
static void k4(dg_call *call, int64_t me, int64_t count, const float *a0, float *y0) {
    const int64_t n_batch = call->size[0];
    const int64_t low = dg_share(n_batch*256, 64, me, count);
    const int64_t high = dg_share(n_batch*256, 64, me + 1, count);
    #pragma omp simd
    for (int64_t i0 = low; i0 < high; i0++) {
        const float r0 = a0[i0];
        // tests/programs.py:33  loss = nn.softmax_cross_entropy(model(x, training=True), t)
        const float r1 = dg_relu(r0);
        y0[i0] = r1;
    }
}

// max_pool2d: 2 tests/programs.py:33  loss = nn.softmax_cross_entropy(model(x, training=True), t)
// call over (batch, 4, 4, 4)
static void k5(dg_call *call, int64_t me, int64_t count, const float *a0, float *restrict y0) {
    const int64_t n_batch = call->size[0];
    const int64_t low0 = dg_share(n_batch, 1, me, count);
    const int64_t high0 = dg_share(n_batch, 1, me + 1, count);
    for (int64_t i0 = low0; i0 < high0; i0++) {
        for (int64_t i1 = 0; i1 < 4; i1++) {
            for (int64_t i2 = 0; i2 < 4; i2++) {
                #pragma omp simd
                for (int64_t i3 = 0; i3 < 4; i3++) {
                    float top = (-INFINITY);
                    int nan = 0;
                    { const float x = a0[i0 + i1 * (n_batch*8) + (i2 * 2) * (n_batch*32) + (i3 * 2) * n_batch]; top = x > top ? x : top; nan |= x != x; }
                    { const float x = a0[i0 + i1 * (n_batch*8) + (i2 * 2) * (n_batch*32) + (i3 * 2 + 1) * n_batch]; top = x > top ? x : top; nan |= x != x; }
                    { const float x = a0[i0 + i1 * (n_batch*8) + (i2 * 2 + 1) * (n_batch*32) + (i3 * 2) * n_batch]; top = x > top ? x : top; nan |= x != x; }
                    { const float x = a0[i0 + i1 * (n_batch*8) + (i2 * 2 + 1) * (n_batch*32) + (i3 * 2 + 1) * n_batch]; top = x > top ? x : top; nan |= x != x; }
                    y0[i0 * 64 + i1 * 16 + i2 * 4 + i3] = nan ? (float)NAN : top;
                }
            }
        }
    }
}

// matmul: 4 tests/programs.py:33  loss = nn.softmax_cross_entropy(model(x, training=True), t)
// call over (batch, 3)
static void k6(dg_call *call, int64_t me, int64_t count, const float *a0, const float *a1, float *restrict y0) {
    const int64_t n_batch = call->size[0];
    dg_matmul_float32(call, me, count, n_batch, 3, 64, a0, 64, 1, a1, 3, 1, y0, 3, 1);
}

// add: 4 tests/programs.py:33  loss = nn.softmax_cross_entropy(model(x, training=True), t)
// map over (batch, 3)
static void k7(dg_call *call, int64_t me, int64_t count, const float *a0, const float *a1, float *y0) {
    const int64_t n_batch = call->size[0];
    const int64_t low = dg_share(n_batch, 1, me, count);
    const int64_t high = dg_share(n_batch, 1, me + 1, count);
    for (int64_t i0 = low; i0 < high; i0++) {
        #pragma omp simd
        for (int64_t i1 = 0; i1 < 3; i1++) {
            const float r0 = a0[i0 * 3 + i1];
            const float r1 = a1[i1];
            // tests/programs.py:33  loss = nn.softmax_cross_entropy(model(x, training=True), t)
            const float r2 = r0 + r1;
            y0[i0 * 3 + i1] = r2;
        }
    }
}

// max: tests/programs.py:33  loss = nn.softmax_cross_entropy(model(x, training=True), t)
// fold over (batch, 3)
static void k8(dg_call *call, int64_t me, int64_t count, const float *a0, float *y0) {
    const int64_t n_batch = call->size[0];
    const int64_t low = dg_share(n_batch, 1, me, count);
    const int64_t high = dg_share(n_batch, 1, me + 1, count);
    for (int64_t i0 = low; i0 < high; i0++) {
        float f1 = (-INFINITY);
        {
            float s1 = (-INFINITY);
            int n1 = 0;
            #pragma omp simd reduction(max:s1) reduction(|:n1)
            for (int64_t i1 = 0; i1 < 3; i1++) {
                const float r0 = a0[i0 * 3 + i1];
                s1 = r0 > s1 ? r0 : s1;
                n1 |= r0 != r0;
            }
            f1 = dg_maximum(f1, (n1 ? (float)NAN : s1));
        }
        // tests/programs.py:33  loss = nn.softmax_cross_entropy(model(x, training=True), t)
        const float r1 = f1;
        y0[i0] = r1;
    }
}

// subtract: tests/programs.py:33  loss = nn.softmax_cross_entropy(model(x, training=True), t)
// map over (batch, 3)
static void k9(dg_call *call, int64_t me, int64_t count, const float *a0, const float *a1, float *y0) {
    const int64_t n_batch = call->size[0];
    const int64_t low = dg_share(n_batch, 1, me, count);
    const int64_t high = dg_share(n_batch, 1, me + 1, count);
    for (int64_t i0 = low; i0 < high; i0++) {
        const float r1 = a1[i0];
        #pragma omp simd
        for (int64_t i1 = 0; i1 < 3; i1++) {
            const float r0 = a0[i0 * 3 + i1];
            // tests/programs.py:33  loss = nn.softmax_cross_entropy(model(x, training=True), t)
            const float r2 = r0 - r1;
            y0[i0 * 3 + i1] = r2;
        }
    }
}

// exp: tests/programs.py:33  loss = nn.softmax_cross_entropy(model(x, training=True), t)
// map over (batch*3,)
static void k10(dg_call *call, int64_t me, int64_t count, const float *a0, float *y0) {
    const int64_t n_batch = call->size[0];
    const int64_t low = dg_share(n_batch*3, 64, me, count);
    const int64_t high = dg_share(n_batch*3, 64, me + 1, count);
    #pragma omp simd
    for (int64_t i0 = low; i0 < high; i0++) {
        const float r0 = a0[i0];
        // tests/programs.py:33  loss = nn.softmax_cross_entropy(model(x, training=True), t)
        const float r1 = dg_exp(r0);
        y0[i0] = r1;
    }
}

// sum: tests/programs.py:33  loss = nn.softmax_cross_entropy(model(x, training=True), t)
// fold over (batch, 3)
static void k11(dg_call *call, int64_t me, int64_t count, const float *a0, float *y0) {
    const int64_t n_batch = call->size[0];
    const int64_t low = dg_share(n_batch, 1, me, count);
    const int64_t high = dg_share(n_batch, 1, me + 1, count);
    for (int64_t i0 = low; i0 < high; i0++) {
        double f1 = 0.0;
        {
            float s1 = 0.0f;
            #pragma omp simd reduction(+:s1)
            for (int64_t i1 = 0; i1 < 3; i1++) {
                const float r0 = a0[i0 * 3 + i1];
                s1 += r0;
            }
            f1 += s1;
        }
        // tests/programs.py:33  loss = nn.softmax_cross_entropy(model(x, training=True), t)
        const float r1 = f1;
        y0[i0] = r1;
    }
}

// log: tests/programs.py:33  loss = nn.softmax_cross_entropy(model(x, training=True), t)
// map over (batch,)
static void k12(dg_call *call, int64_t me, int64_t count, const float *a0, float *y0) {
    const int64_t n_batch = call->size[0];
    const int64_t low = dg_share(n_batch, 64, me, count);
    const int64_t high = dg_share(n_batch, 64, me + 1, count);
    #pragma omp simd
    for (int64_t i0 = low; i0 < high; i0++) {
        const float r0 = a0[i0];
        // tests/programs.py:33  loss = nn.softmax_cross_entropy(model(x, training=True), t)
        const float r1 = dg_log(r0);
        y0[i0] = r1;
    }
}

// check_index: tests/programs.py:33  loss = nn.softmax_cross_entropy(model(x, training=True), t)
// call over (batch,)
static void k13(dg_call *call, int64_t me, int64_t count, const int64_t *a0) {
    const int64_t n_batch = call->size[0];
    const int64_t low1 = dg_share(n_batch, 16, me, count);
    const int64_t high1 = dg_share(n_batch, 16, me + 1, count);
    int bad = 0;
    #pragma omp simd reduction(|:bad)
    for (int64_t i0 = low1; i0 < high1; i0++) {
        bad |= dg_outside((int64_t)a0[i0], 0, 3);
    }
    if (!__builtin_expect(bad, 0)) return;
    {
        int64_t least = a0[0];
        int64_t greatest = least;
        for (int64_t i2 = 0; i2 < n_batch; i2++) {
            const int64_t j = a0[i2];
            least = j < least ? j : least;
            greatest = j > greatest ? j : greatest;
        }
        if (dg_refused(call, 0, (int64_t)least, (int64_t)greatest, 0, 3)) return;
    }
}

static void k13_1(dg_call *call, int64_t me, int64_t count, const int64_t *a0, int64_t *restrict y0) {
    const int64_t n_batch = call->size[0];
    const int64_t low4 = dg_share(n_batch, 16, me, count);
    const int64_t high4 = dg_share(n_batch, 16, me + 1, count);
    #pragma omp simd
    for (int64_t i3 = low4; i3 < high4; i3++) {
        y0[i3] = a0[i3];
    }
}

// equal: tests/programs.py:33  loss = nn.softmax_cross_entropy(model(x, training=True), t)
// map over (batch, 3)
static void k14(dg_call *call, int64_t me, int64_t count, const int64_t *a0, const int64_t *a1, dg_bool *y0) {
    const int64_t n_batch = call->size[0];
    const int64_t low = dg_share(n_batch, 1, me, count);
    const int64_t high = dg_share(n_batch, 1, me + 1, count);
    for (int64_t i0 = low; i0 < high; i0++) {
        const int64_t r0 = a0[i0];
        #pragma omp simd
        for (int64_t i1 = 0; i1 < 3; i1++) {
            const int64_t r1 = a1[i1];
            // tests/programs.py:33  loss = nn.softmax_cross_entropy(model(x, training=True), t)
            const dg_bool r2 = dg_equal(r0, r1);
            y0[i0 * 3 + i1] = r2;
        }
    }
}

// where: tests/programs.py:33  loss = nn.softmax_cross_entropy(model(x, training=True), t)
// map over (batch*3,)
static void k15(dg_call *call, int64_t me, int64_t count, const dg_bool *a0, const float *a1, float *y0) {
    const int64_t n_batch = call->size[0];
    const int64_t low = dg_share(n_batch*3, 64, me, count);
    const int64_t high = dg_share(n_batch*3, 64, me + 1, count);
    #pragma omp simd
    for (int64_t i0 = low; i0 < high; i0++) {
        const dg_bool r0 = a0[i0];
        const float r1 = a1[i0];
        // tests/programs.py:33  loss = nn.softmax_cross_entropy(model(x, training=True), t)
        const float r2 = r0 ? r1 : 0.0f;
        y0[i0] = r2;
    }
}

// sum: tests/programs.py:33  loss = nn.softmax_cross_entropy(model(x, training=True), t)
// fold over (batch, 3)
static void k16(dg_call *call, int64_t me, int64_t count, const float *a0, float *y0) {
    const int64_t n_batch = call->size[0];
    const int64_t low = dg_share(n_batch, 1, me, count);
    const int64_t high = dg_share(n_batch, 1, me + 1, count);
    for (int64_t i0 = low; i0 < high; i0++) {
        double f1 = 0.0;
        {
            float s1 = 0.0f;
            #pragma omp simd reduction(+:s1)
            for (int64_t i1 = 0; i1 < 3; i1++) {
                const float r0 = a0[i0 * 3 + i1];
                s1 += r0;
            }
            f1 += s1;
        }
        // tests/programs.py:33  loss = nn.softmax_cross_entropy(model(x, training=True), t)
        const float r1 = f1;
        y0[i0] = r1;
    }
}

// subtract: tests/programs.py:33  loss = nn.softmax_cross_entropy(model(x, training=True), t)
// map over (batch,)
static void k17(dg_call *call, int64_t me, int64_t count, const float *a0, const float *a1, float *y0) {
    const int64_t n_batch = call->size[0];
    const int64_t low = dg_share(n_batch, 64, me, count);
    const int64_t high = dg_share(n_batch, 64, me + 1, count);
    #pragma omp simd
    for (int64_t i0 = low; i0 < high; i0++) {
        const float r0 = a0[i0];
        const float r1 = a1[i0];
        // tests/programs.py:33  loss = nn.softmax_cross_entropy(model(x, training=True), t)
        const float r2 = r0 - r1;
        y0[i0] = r2;
    }
}

// sum: tests/programs.py:33  loss = nn.softmax_cross_entropy(model(x, training=True), t)
// fold over (batch,)
static void k18(dg_call *call, int64_t me, int64_t count, const float *a0, char *t0) {
    const int64_t n_batch = call->size[0];
    double *const m1 = (double *)(t0 + me * dg_padded(8));
    const int64_t low = dg_share(n_batch, 64, me, count);
    const int64_t high = dg_share(n_batch, 64, me + 1, count);
    m1[0] = 0.0;
    for (int64_t s = low; s < high; s += 1024) {
        const int64_t e = dg_min(s + 1024, high);
        float s1 = 0.0f;
        #pragma omp simd reduction(+:s1)
        for (int64_t i0 = s; i0 < e; i0++) {
            const float r0 = a0[i0];
            s1 += r0;
        }
        m1[0] += s1;
    }
}

static void k18_1(int64_t me, int64_t count, float *y0, char *t0) {
    double *const m1 = (double *)(t0 + me * dg_padded(8));
    if (me) return;
    for (int64_t other = 1; other < count; other++) {
        const double *const part = (const double *)(t0 + other * dg_padded(8));
        m1[0] += part[0];
    }
    // tests/programs.py:33  loss = nn.softmax_cross_entropy(model(x, training=True), t)
    const float r1 = m1[0];
    y0[0] = r1;
}

// divide: tests/programs.py:33  loss = nn.softmax_cross_entropy(model(x, training=True), t)
// map over ()
static void k19(dg_call *call, int64_t me, const float *a0, float *y0) {
    const int64_t n_batch = call->size[0];
    if (me) return;
    const float r0 = a0[0];
    // tests/programs.py:33  loss = nn.softmax_cross_entropy(model(x, training=True), t)
    const float r1 = r0 / dg_to_float32(n_batch);
    y0[0] = r1;
}

// add: SGD tests/programs.py:34  return {"loss": loss}, optim.SGD(lr=0.1).updates(loss, model.parameters)
// map over ()
static void k20(int64_t me, const int64_t *a0, int64_t *y0) {
    if (me) return;
    const int64_t r0 = a0[0];
    // tests/programs.py:34  return {"loss": loss}, optim.SGD(lr=0.1).updates(loss, model.parameters)
    const int64_t r1 = r0 + INT64_C(1);
    y0[0] = r1;
}

// greater: tests/programs.py:33  loss = nn.softmax_cross_entropy(model(x, training=True), t)
// map over (batch*256,)
static void k21(dg_call *call, int64_t me, int64_t count, const float *a0, dg_bool *y0) {
    const int64_t n_batch = call->size[0];
    const int64_t low = dg_share(n_batch*256, 64, me, count);
    const int64_t high = dg_share(n_batch*256, 64, me + 1, count);
    #pragma omp simd
    for (int64_t i0 = low; i0 < high; i0++) {
        const float r0 = a0[i0];
        // tests/programs.py:33  loss = nn.softmax_cross_entropy(model(x, training=True), t)
        const dg_bool r1 = dg_greater(r0, 0.0f);
        y0[i0] = r1;
    }
}

// divide: tests/programs.py:33  loss = nn.softmax_cross_entropy(model(x, training=True), t)
// map over ()
static void k22(dg_call *call, int64_t me, float *y0) {
    const int64_t n_batch = call->size[0];
    if (me) return;
    // tests/programs.py:33  loss = nn.softmax_cross_entropy(model(x, training=True), t)
    const float r0 = (-1.0f) / dg_to_float32(n_batch);
    y0[0] = r0;
}

// where: tests/programs.py:33  loss = nn.softmax_cross_entropy(model(x, training=True), t)
// map over (batch*3,)
static void k23(dg_call *call, int64_t me, int64_t count, const dg_bool *a0, const float *a1, float *y0) {
    const int64_t n_batch = call->size[0];
    const int64_t low = dg_share(n_batch*3, 64, me, count);
    const int64_t high = dg_share(n_batch*3, 64, me + 1, count);
    const float r1 = a1[0];
    #pragma omp simd
    for (int64_t i0 = low; i0 < high; i0++) {
        const dg_bool r0 = a0[i0];
        // tests/programs.py:33  loss = nn.softmax_cross_entropy(model(x, training=True), t)
        const float r2 = r0 ? r1 : 0.0f;
        y0[i0] = r2;
    }
}

// divide: tests/programs.py:33  loss = nn.softmax_cross_entropy(model(x, training=True), t)
// map over ()
static void k24(dg_call *call, int64_t me, float *y0) {
    const int64_t n_batch = call->size[0];
    if (me) return;
    // tests/programs.py:33  loss = nn.softmax_cross_entropy(model(x, training=True), t)
    const float r0 = 1.0f / dg_to_float32(n_batch);
    y0[0] = r0;
}

// divide: tests/programs.py:33  loss = nn.softmax_cross_entropy(model(x, training=True), t)
// map over (batch,)
static void k25(dg_call *call, int64_t me, int64_t count, const float *a0, const float *a1, float *y0) {
    const int64_t n_batch = call->size[0];
    const int64_t low = dg_share(n_batch, 64, me, count);
    const int64_t high = dg_share(n_batch, 64, me + 1, count);
    const float r0 = a0[0];
    #pragma omp simd
    for (int64_t i0 = low; i0 < high; i0++) {
        const float r1 = a1[i0];
        // tests/programs.py:33  loss = nn.softmax_cross_entropy(model(x, training=True), t)
        const float r2 = r0 / r1;
        y0[i0] = r2;
    }
}

// multiply: tests/programs.py:33  loss = nn.softmax_cross_entropy(model(x, training=True), t)
// map over (batch, 3)
static void k26(dg_call *call, int64_t me, int64_t count, const float *a0, const float *a1, float *y0) {
    const int64_t n_batch = call->size[0];
    const int64_t low = dg_share(n_batch, 1, me, count);
    const int64_t high = dg_share(n_batch, 1, me + 1, count);
    for (int64_t i0 = low; i0 < high; i0++) {
        const float r0 = a0[i0];
        #pragma omp simd
        for (int64_t i1 = 0; i1 < 3; i1++) {
            const float r1 = a1[i0 * 3 + i1];
            // tests/programs.py:33  loss = nn.softmax_cross_entropy(model(x, training=True), t)
            const float r2 = r0 * r1;
            y0[i0 * 3 + i1] = r2;
        }
    }
}

// add: tests/programs.py:33  loss = nn.softmax_cross_entropy(model(x, training=True), t)
// map over (batch*3,)
static void k27(dg_call *call, int64_t me, int64_t count, const float *a0, const float *a1, float *y0) {
    const int64_t n_batch = call->size[0];
    const int64_t low = dg_share(n_batch*3, 64, me, count);
    const int64_t high = dg_share(n_batch*3, 64, me + 1, count);
    #pragma omp simd
    for (int64_t i0 = low; i0 < high; i0++) {
        const float r0 = a0[i0];
        const float r1 = a1[i0];
        // tests/programs.py:33  loss = nn.softmax_cross_entropy(model(x, training=True), t)
        const float r2 = r0 + r1;
        y0[i0] = r2;
    }
}

// matmul: 4 tests/programs.py:33  loss = nn.softmax_cross_entropy(model(x, training=True), t)
// call over (batch, 64)
static void k28(dg_call *call, int64_t me, int64_t count, const float *a0, const float *a1, float *restrict y0) {
    const int64_t n_batch = call->size[0];
    dg_matmul_float32(call, me, count, n_batch, 64, 3, a0, 3, 1, a1, 1, 3, y0, 64, 1);
}

// max_pool2d_grad: 2 tests/programs.py:33  loss = nn.softmax_cross_entropy(model(x, training=True), t)
// call over (batch, 4, 8, 8)
static void k29(dg_call *call, int64_t me, int64_t count, const float *a0, const float *a1, const float *a2, float *restrict y0) {
    const int64_t n_batch = call->size[0];
    const int64_t low0 = dg_share(n_batch, 16, me, count);
    const int64_t high0 = dg_share(n_batch, 16, me + 1, count);
    for (int64_t i2 = 0; i2 < 4; i2++) {
        for (int64_t i1 = 0; i1 < 4; i1++) {
            for (int64_t i3 = 0; i3 < 4; i3++) {
                #pragma omp simd
                for (int64_t i0 = low0; i0 < high0; i0++) {
                    float share = 0;
                    share += a1[i0 + i1 * (n_batch*8) + (i2 * 2) * (n_batch*32) + (i3 * 2) * n_batch] == a2[i0 * 64 + i1 * 16 + i2 * 4 + i3];
                    share += a1[i0 + i1 * (n_batch*8) + (i2 * 2) * (n_batch*32) + (i3 * 2 + 1) * n_batch] == a2[i0 * 64 + i1 * 16 + i2 * 4 + i3];
                    share += a1[i0 + i1 * (n_batch*8) + (i2 * 2 + 1) * (n_batch*32) + (i3 * 2) * n_batch] == a2[i0 * 64 + i1 * 16 + i2 * 4 + i3];
                    share += a1[i0 + i1 * (n_batch*8) + (i2 * 2 + 1) * (n_batch*32) + (i3 * 2 + 1) * n_batch] == a2[i0 * 64 + i1 * 16 + i2 * 4 + i3];
                    share = a0[i0 * 64 + i1 * 16 + i2 * 4 + i3] / share;
                    y0[i0 + i1 * (n_batch*8) + (i2 * 2) * (n_batch*32) + (i3 * 2) * n_batch] = a1[i0 + i1 * (n_batch*8) + (i2 * 2) * (n_batch*32) + (i3 * 2) * n_batch] == a2[i0 * 64 + i1 * 16 + i2 * 4 + i3] ? share : 0;
                    y0[i0 + i1 * (n_batch*8) + (i2 * 2) * (n_batch*32) + (i3 * 2 + 1) * n_batch] = a1[i0 + i1 * (n_batch*8) + (i2 * 2) * (n_batch*32) + (i3 * 2 + 1) * n_batch] == a2[i0 * 64 + i1 * 16 + i2 * 4 + i3] ? share : 0;
                    y0[i0 + i1 * (n_batch*8) + (i2 * 2 + 1) * (n_batch*32) + (i3 * 2) * n_batch] = a1[i0 + i1 * (n_batch*8) + (i2 * 2 + 1) * (n_batch*32) + (i3 * 2) * n_batch] == a2[i0 * 64 + i1 * 16 + i2 * 4 + i3] ? share : 0;
                    y0[i0 + i1 * (n_batch*8) + (i2 * 2 + 1) * (n_batch*32) + (i3 * 2 + 1) * n_batch] = a1[i0 + i1 * (n_batch*8) + (i2 * 2 + 1) * (n_batch*32) + (i3 * 2 + 1) * n_batch] == a2[i0 * 64 + i1 * 16 + i2 * 4 + i3] ? share : 0;
                }
            }
        }
    }
}

// where: 0 tests/programs.py:33  loss = nn.softmax_cross_entropy(model(x, training=True), t)
// map over (4, 8, batch*8)
static void k30(dg_call *call, int64_t me, int64_t count, const dg_bool *a0, const float *a1, float *y0) {
    const int64_t n_batch = call->size[0];
    const int64_t low = dg_share(n_batch*8, 64, me, count);
    const int64_t high = dg_share(n_batch*8, 64, me + 1, count);
    for (int64_t i0 = 0; i0 < 4; i0++) {
        for (int64_t i1 = 0; i1 < 8; i1++) {
            #pragma omp simd
            for (int64_t i2 = low; i2 < high; i2++) {
                const dg_bool r0 = a0[i0 * (n_batch*8) + i1 * (n_batch*32) + i2];
                const float r1 = a1[i0 * (n_batch*8) + i1 * (n_batch*32) + i2];
                // tests/programs.py:33  loss = nn.softmax_cross_entropy(model(x, training=True), t)
                const float r2 = r0 ? r1 : 0.0f;
                y0[i0 * (n_batch*64) + i1 * (n_batch*8) + i2] = r2;
            }
        }
    }
}

// matmul: 0 tests/programs.py:33  loss = nn.softmax_cross_entropy(model(x, training=True), t)
// call over (8, 4, 9)
static void k31(dg_call *call, int64_t me, int64_t count, const float *a0, const float *a1, float *restrict y0) {
    const int64_t n_batch = call->size[0];
    const int64_t low = dg_share(8, 1, me, count);
    const int64_t high = dg_share(8, 1, me + 1, count);
    for (int64_t i0 = low; i0 < high; i0++) {
        dg_matmul_float32(call, 0, 1, 4, 9, n_batch*8, a0 + i0 * (n_batch*8), n_batch*64, 1, a1 + i0 * (n_batch*8), 1, n_batch*64, y0 + i0 * 36, 9, 1);
    }
}

// sum: 0 tests/programs.py:33  loss = nn.softmax_cross_entropy(model(x, training=True), t)
// fold over (8, 36)
static void k32(int64_t me, int64_t count, const float *a0, float *y0) {
    double m1[36];
    const int64_t low = dg_share(36, 64, me, count);
    const int64_t high = dg_share(36, 64, me + 1, count);
    for (int64_t i1 = low; i1 < high; i1++) {
        m1[i1] = 0.0;
    }
    for (int64_t i0 = 0; i0 < 8; i0++) {
        #pragma omp simd
        for (int64_t i1 = low; i1 < high; i1++) {
            const float r0 = a0[i0 * 36 + i1];
            m1[i1] += r0;
        }
    }
    #pragma omp simd
    for (int64_t i1 = low; i1 < high; i1++) {
        // tests/programs.py:33  loss = nn.softmax_cross_entropy(model(x, training=True), t)
        const float r1 = m1[i1];
        y0[i1] = r1;
    }
}

// multiply: SGD tests/programs.py:34  return {"loss": loss}, optim.SGD(lr=0.1).updates(loss, model.parameters)
// map over (36,)
static void k33(int64_t me, int64_t count, const float *a0, const float *a1, float *y0) {
    const int64_t low = dg_share(36, 64, me, count);
    const int64_t high = dg_share(36, 64, me + 1, count);
    const float r0 = a0[0];
    #pragma omp simd
    for (int64_t i0 = low; i0 < high; i0++) {
        const float r1 = a1[i0];
        // tests/programs.py:34  return {"loss": loss}, optim.SGD(lr=0.1).updates(loss, model.parameters)
        const float r2 = r0 * r1;
        y0[i0] = r2;
    }
}

// subtract: SGD tests/programs.py:34  return {"loss": loss}, optim.SGD(lr=0.1).updates(loss, model.parameters)
// map over (36,)
static void k34(int64_t me, int64_t count, const float *a0, const float *a1, float *y0) {
    const int64_t low = dg_share(36, 64, me, count);
    const int64_t high = dg_share(36, 64, me + 1, count);
    #pragma omp simd
    for (int64_t i0 = low; i0 < high; i0++) {
        const float r0 = a0[i0];
        const float r1 = a1[i0];
        // tests/programs.py:34  return {"loss": loss}, optim.SGD(lr=0.1).updates(loss, model.parameters)
        const float r2 = r0 - r1;
        y0[i0] = r2;
    }
}

// sum: 0 tests/programs.py:33  loss = nn.softmax_cross_entropy(model(x, training=True), t)
// fold over (4, batch*64)
static void k35(dg_call *call, int64_t me, int64_t count, const float *a0, float *y0) {
    const int64_t n_batch = call->size[0];
    const int64_t low = dg_share(4, 1, me, count);
    const int64_t high = dg_share(4, 1, me + 1, count);
    for (int64_t i0 = low; i0 < high; i0++) {
        double f1 = 0.0;
        for (int64_t s = 0; s < n_batch*64; s += 1024) {
            const int64_t e = dg_min(s + 1024, n_batch*64);
            float s1 = 0.0f;
            #pragma omp simd reduction(+:s1)
            for (int64_t i1 = s; i1 < e; i1++) {
                const float r0 = a0[i0 * (n_batch*64) + i1];
                s1 += r0;
            }
            f1 += s1;
        }
        // tests/programs.py:33  loss = nn.softmax_cross_entropy(model(x, training=True), t)
        const float r1 = f1;
        y0[i0] = r1;
    }
}

// multiply: SGD tests/programs.py:34  return {"loss": loss}, optim.SGD(lr=0.1).updates(loss, model.parameters)
// map over (4,)
static void k36(int64_t me, int64_t count, const float *a0, const float *a1, float *y0) {
    const int64_t low = dg_share(4, 64, me, count);
    const int64_t high = dg_share(4, 64, me + 1, count);
    const float r0 = a0[0];
    #pragma omp simd
    for (int64_t i0 = low; i0 < high; i0++) {
        const float r1 = a1[i0];
        // tests/programs.py:34  return {"loss": loss}, optim.SGD(lr=0.1).updates(loss, model.parameters)
        const float r2 = r0 * r1;
        y0[i0] = r2;
    }
}

// subtract: SGD tests/programs.py:34  return {"loss": loss}, optim.SGD(lr=0.1).updates(loss, model.parameters)
// map over (4,)
static void k37(int64_t me, int64_t count, const float *a0, const float *a1, float *y0) {
    const int64_t low = dg_share(4, 64, me, count);
    const int64_t high = dg_share(4, 64, me + 1, count);
    #pragma omp simd
    for (int64_t i0 = low; i0 < high; i0++) {
        const float r0 = a0[i0];
        const float r1 = a1[i0];
        // tests/programs.py:34  return {"loss": loss}, optim.SGD(lr=0.1).updates(loss, model.parameters)
        const float r2 = r0 - r1;
        y0[i0] = r2;
    }
}

// matmul: 4 tests/programs.py:33  loss = nn.softmax_cross_entropy(model(x, training=True), t)
// call over (64, 3)
static void k38(dg_call *call, int64_t me, int64_t count, const float *a0, const float *a1, float *restrict y0) {
    const int64_t n_batch = call->size[0];
    dg_matmul_float32(call, me, count, 64, 3, n_batch, a0, 1, 64, a1, 3, 1, y0, 3, 1);
}

// multiply: SGD tests/programs.py:34  return {"loss": loss}, optim.SGD(lr=0.1).updates(loss, model.parameters)
// map over (192,)
static void k39(int64_t me, int64_t count, const float *a0, const float *a1, float *y0) {
    const int64_t low = dg_share(192, 64, me, count);
    const int64_t high = dg_share(192, 64, me + 1, count);
    const float r0 = a0[0];
    #pragma omp simd
    for (int64_t i0 = low; i0 < high; i0++) {
        const float r1 = a1[i0];
        // tests/programs.py:34  return {"loss": loss}, optim.SGD(lr=0.1).updates(loss, model.parameters)
        const float r2 = r0 * r1;
        y0[i0] = r2;
    }
}

// subtract: SGD tests/programs.py:34  return {"loss": loss}, optim.SGD(lr=0.1).updates(loss, model.parameters)
// map over (192,)
static void k40(int64_t me, int64_t count, const float *a0, const float *a1, float *y0) {
    const int64_t low = dg_share(192, 64, me, count);
    const int64_t high = dg_share(192, 64, me + 1, count);
    #pragma omp simd
    for (int64_t i0 = low; i0 < high; i0++) {
        const float r0 = a0[i0];
        const float r1 = a1[i0];
        // tests/programs.py:34  return {"loss": loss}, optim.SGD(lr=0.1).updates(loss, model.parameters)
        const float r2 = r0 - r1;
        y0[i0] = r2;
    }
}

// sum: 4 tests/programs.py:33  loss = nn.softmax_cross_entropy(model(x, training=True), t)
// fold over (batch, 3)
static void k41(dg_call *call, int64_t me, int64_t count, const float *a0, float *y0) {
    const int64_t n_batch = call->size[0];
    double m1[256];
    const int64_t low = dg_share(3, 64, me, count);
    const int64_t high = dg_share(3, 64, me + 1, count);
    for (int64_t s = low; s < high; s += 256) {
        const int64_t e = dg_min(s + 256, high);
        for (int64_t i1 = s; i1 < e; i1++) {
            m1[(i1 - s)] = 0.0;
        }
        for (int64_t i0 = 0; i0 < n_batch; i0++) {
            #pragma omp simd
            for (int64_t i1 = s; i1 < e; i1++) {
                const float r0 = a0[i0 * 3 + i1];
                m1[(i1 - s)] += r0;
            }
        }
        #pragma omp simd
        for (int64_t i1 = s; i1 < e; i1++) {
            // tests/programs.py:33  loss = nn.softmax_cross_entropy(model(x, training=True), t)
            const float r1 = m1[(i1 - s)];
            y0[i1] = r1;
        }
    }
}

// multiply: SGD tests/programs.py:34  return {"loss": loss}, optim.SGD(lr=0.1).updates(loss, model.parameters)
// map over (3,)
static void k42(int64_t me, int64_t count, const float *a0, const float *a1, float *y0) {
    const int64_t low = dg_share(3, 64, me, count);
    const int64_t high = dg_share(3, 64, me + 1, count);
    const float r0 = a0[0];
    #pragma omp simd
    for (int64_t i0 = low; i0 < high; i0++) {
        const float r1 = a1[i0];
        // tests/programs.py:34  return {"loss": loss}, optim.SGD(lr=0.1).updates(loss, model.parameters)
        const float r2 = r0 * r1;
        y0[i0] = r2;
    }
}

// subtract: SGD tests/programs.py:34  return {"loss": loss}, optim.SGD(lr=0.1).updates(loss, model.parameters)
// map over (3,)
static void k43(int64_t me, int64_t count, const float *a0, const float *a1, float *y0) {
    const int64_t low = dg_share(3, 64, me, count);
    const int64_t high = dg_share(3, 64, me + 1, count);
    #pragma omp simd
    for (int64_t i0 = low; i0 < high; i0++) {
        const float r0 = a0[i0];
        const float r1 = a1[i0];
        // tests/programs.py:34  return {"loss": loss}, optim.SGD(lr=0.1).updates(loss, model.parameters)
        const float r2 = r0 - r1;
        y0[i0] = r2;
    }
}

void part0(dg_call *call, int me, int count) {
    const int64_t n_batch = call->size[0];
    int few;
    // pad: 0 tests/programs.py:33  loss = nn.softmax_cross_entropy(model(x, training=True), t)
    few = n_batch*656 < 262144 ? 1 : count;
    if (me < few) k0(call, me, few, (const float *)call->at[0], (float *)call->at[10]);
    dg_wait(call->barrier, count);
    // copy: 0 tests/programs.py:33  loss = nn.softmax_cross_entropy(model(x, training=True), t)
    few = n_batch*4608 < 262144 ? 1 : count;
    if (me < few) k1(call, me, few, (const float *)call->at[10], (float *)call->at[11]);
    dg_wait(call->barrier, count);
    // matmul: 0 tests/programs.py:33  loss = nn.softmax_cross_entropy(model(x, training=True), t)
    few = n_batch*7936 + 144 < 262144 ? 1 : count;
    if (me < few) k2(call, me, few, (const float *)call->at[3], (const float *)call->at[11], (float *)call->at[12]);
    dg_wait(call->barrier, count);
    // add: 0 tests/programs.py:33  loss = nn.softmax_cross_entropy(model(x, training=True), t)
    few = n_batch*2304 + 16 < 262144 ? 1 : count;
    if (me < few) k3(call, me, few, (const float *)call->at[12], (const float *)call->at[4], (float *)call->at[12]);
    dg_wait(call->barrier, count);
    // relu: tests/programs.py:33  loss = nn.softmax_cross_entropy(model(x, training=True), t)
    few = n_batch*2304 < 262144 ? 1 : count;
    if (me < few) k4(call, me, few, (const float *)call->at[12], (float *)call->at[12]);
    dg_wait(call->barrier, count);
    // max_pool2d: 2 tests/programs.py:33  loss = nn.softmax_cross_entropy(model(x, training=True), t)
    few = n_batch*1536 < 262144 ? 1 : count;
    if (me < few) k5(call, me, few, (const float *)call->at[12], (float *)call->at[13]);
    dg_wait(call->barrier, count);
    // matmul: 4 tests/programs.py:33  loss = nn.softmax_cross_entropy(model(x, training=True), t)
    few = n_batch*652 + 768 < 262144 ? 1 : count;
    if (me < few) k6(call, me, few, (const float *)call->at[13], (const float *)call->at[5], (float *)call->at[14]);
    dg_wait(call->barrier, count);
    // add: 4 tests/programs.py:33  loss = nn.softmax_cross_entropy(model(x, training=True), t)
    few = n_batch*27 + 12 < 262144 ? 1 : count;
    if (me < few) k7(call, me, few, (const float *)call->at[14], (const float *)call->at[6], (float *)call->at[14]);
    dg_wait(call->barrier, count);
    // max: tests/programs.py:33  loss = nn.softmax_cross_entropy(model(x, training=True), t)
    few = n_batch*19 < 262144 ? 1 : count;
    if (me < few) k8(call, me, few, (const float *)call->at[14], (float *)call->at[15]);
    dg_wait(call->barrier, count);
    // subtract: tests/programs.py:33  loss = nn.softmax_cross_entropy(model(x, training=True), t)
    few = n_batch*31 < 262144 ? 1 : count;
    if (me < few) k9(call, me, few, (const float *)call->at[14], (const float *)call->at[15], (float *)call->at[14]);
    dg_wait(call->barrier, count);
    // exp: tests/programs.py:33  loss = nn.softmax_cross_entropy(model(x, training=True), t)
    few = n_batch*54 < 262144 ? 1 : count;
    if (me < few) k10(call, me, few, (const float *)call->at[14], (float *)call->at[16]);
    dg_wait(call->barrier, count);
    // sum: tests/programs.py:33  loss = nn.softmax_cross_entropy(model(x, training=True), t)
    few = n_batch*19 < 262144 ? 1 : count;
    if (me < few) k11(call, me, few, (const float *)call->at[16], (float *)call->at[17]);
    dg_wait(call->barrier, count);
    // log: tests/programs.py:33  loss = nn.softmax_cross_entropy(model(x, training=True), t)
    few = n_batch*18 < 262144 ? 1 : count;
    if (me < few) k12(call, me, few, (const float *)call->at[17], (float *)call->at[18]);
    dg_wait(call->barrier, count);
    // check_index: tests/programs.py:33  loss = nn.softmax_cross_entropy(model(x, training=True), t)
    few = n_batch*17 < 262144 ? 1 : count;
    if (me < few) k13(call, me, few, (const int64_t *)call->at[1]);
    dg_wait(call->barrier, count);
    if (dg_faulted(call, 1)) return;
    few = n_batch*17 < 262144 ? 1 : count;
    if (me < few) k13_1(call, me, few, (const int64_t *)call->at[1], (int64_t *)call->at[19]);
    dg_wait(call->barrier, count);
    // equal: tests/programs.py:33  loss = nn.softmax_cross_entropy(model(x, training=True), t)
    few = n_batch*14 + 24 < 262144 ? 1 : count;
    if (me < few) k14(call, me, few, (const int64_t *)call->at[19], (const int64_t *)call->at[9], (dg_bool *)call->at[20]);
    dg_wait(call->barrier, count);
    // where: tests/programs.py:33  loss = nn.softmax_cross_entropy(model(x, training=True), t)
    few = n_batch*30 < 262144 ? 1 : count;
    if (me < few) k15(call, me, few, (const dg_bool *)call->at[20], (const float *)call->at[14], (float *)call->at[14]);
    dg_wait(call->barrier, count);
    // sum: tests/programs.py:33  loss = nn.softmax_cross_entropy(model(x, training=True), t)
    few = n_batch*19 < 262144 ? 1 : count;
    if (me < few) k16(call, me, few, (const float *)call->at[14], (float *)call->at[21]);
    dg_wait(call->barrier, count);
    // subtract: tests/programs.py:33  loss = nn.softmax_cross_entropy(model(x, training=True), t)
    few = n_batch*13 < 262144 ? 1 : count;
    if (me < few) k17(call, me, few, (const float *)call->at[18], (const float *)call->at[21], (float *)call->at[18]);
    dg_wait(call->barrier, count);
    // sum: tests/programs.py:33  loss = nn.softmax_cross_entropy(model(x, training=True), t)
    few = n_batch*5 + 4 < 262144 ? 1 : count;
    if (me < few) k18(call, me, few, (const float *)call->at[18], call->at[23]);
    dg_wait(call->barrier, count);
    few = n_batch*5 + 4 < 262144 ? 1 : count;
    if (me < few) k18_1(me, few, (float *)call->at[22], call->at[23]);
    dg_wait(call->barrier, count);
    if (me == 0) {
        // divide: tests/programs.py:33  loss = nn.softmax_cross_entropy(model(x, training=True), t)
        k19(call, me, (const float *)call->at[22], (float *)call->at[2]);
        // add: SGD tests/programs.py:34  return {"loss": loss}, optim.SGD(lr=0.1).updates(loss, model.parameters)
        k20(me, (const int64_t *)call->at[7], (int64_t *)call->at[7]);
    }
    dg_wait(call->barrier, count);
    // greater: tests/programs.py:33  loss = nn.softmax_cross_entropy(model(x, training=True), t)
    few = n_batch*1536 < 262144 ? 1 : count;
    if (me < few) k21(call, me, few, (const float *)call->at[12], (dg_bool *)call->at[24]);
    dg_wait(call->barrier, count);
    if (me == 0) {
        // divide: tests/programs.py:33  loss = nn.softmax_cross_entropy(model(x, training=True), t)
        k22(call, me, (float *)call->at[25]);
    }
    dg_wait(call->barrier, count);
    // where: tests/programs.py:33  loss = nn.softmax_cross_entropy(model(x, training=True), t)
    few = n_batch*18 + 4 < 262144 ? 1 : count;
    if (me < few) k23(call, me, few, (const dg_bool *)call->at[20], (const float *)call->at[25], (float *)call->at[26]);
    dg_wait(call->barrier, count);
    if (me == 0) {
        // divide: tests/programs.py:33  loss = nn.softmax_cross_entropy(model(x, training=True), t)
        k24(call, me, (float *)call->at[27]);
    }
    dg_wait(call->barrier, count);
    // divide: tests/programs.py:33  loss = nn.softmax_cross_entropy(model(x, training=True), t)
    few = n_batch*9 + 4 < 262144 ? 1 : count;
    if (me < few) k25(call, me, few, (const float *)call->at[27], (const float *)call->at[17], (float *)call->at[17]);
    dg_wait(call->barrier, count);
    // multiply: tests/programs.py:33  loss = nn.softmax_cross_entropy(model(x, training=True), t)
    few = n_batch*31 < 262144 ? 1 : count;
    if (me < few) k26(call, me, few, (const float *)call->at[17], (const float *)call->at[16], (float *)call->at[16]);
    dg_wait(call->barrier, count);
    // add: tests/programs.py:33  loss = nn.softmax_cross_entropy(model(x, training=True), t)
    few = n_batch*39 < 262144 ? 1 : count;
    if (me < few) k27(call, me, few, (const float *)call->at[26], (const float *)call->at[16], (float *)call->at[26]);
    dg_wait(call->barrier, count);
    // matmul: 4 tests/programs.py:33  loss = nn.softmax_cross_entropy(model(x, training=True), t)
    few = n_batch*652 + 768 < 262144 ? 1 : count;
    if (me < few) k28(call, me, few, (const float *)call->at[26], (const float *)call->at[5], (float *)call->at[28]);
    dg_wait(call->barrier, count);
    // max_pool2d_grad: 2 tests/programs.py:33  loss = nn.softmax_cross_entropy(model(x, training=True), t)
    few = n_batch*3328 < 262144 ? 1 : count;
    if (me < few) k29(call, me, few, (const float *)call->at[28], (const float *)call->at[12], (const float *)call->at[13], (float *)call->at[29]);
    dg_wait(call->barrier, count);
    // where: 0 tests/programs.py:33  loss = nn.softmax_cross_entropy(model(x, training=True), t)
    few = n_batch*2560 < 262144 ? 1 : count;
    if (me < few) k30(call, me, few, (const dg_bool *)call->at[24], (const float *)call->at[29], (float *)call->at[30]);
    dg_wait(call->barrier, count);
    // matmul: 0 tests/programs.py:33  loss = nn.softmax_cross_entropy(model(x, training=True), t)
    few = n_batch*7936 + 1152 < 262144 ? 1 : count;
    if (me < few) k31(call, me, few, (const float *)call->at[30], (const float *)call->at[11], (float *)call->at[31]);
    dg_wait(call->barrier, count);
    if (me == 0) {
        // sum: 0 tests/programs.py:33  loss = nn.softmax_cross_entropy(model(x, training=True), t)
        k32(me, 1, (const float *)call->at[31], (float *)call->at[32]);
        // multiply: SGD tests/programs.py:34  return {"loss": loss}, optim.SGD(lr=0.1).updates(loss, model.parameters)
        k33(me, 1, (const float *)call->at[8], (const float *)call->at[32], (float *)call->at[32]);
        // subtract: SGD tests/programs.py:34  return {"loss": loss}, optim.SGD(lr=0.1).updates(loss, model.parameters)
        k34(me, 1, (const float *)call->at[3], (const float *)call->at[32], (float *)call->at[3]);
    }
    dg_wait(call->barrier, count);
    // sum: 0 tests/programs.py:33  loss = nn.softmax_cross_entropy(model(x, training=True), t)
    few = n_batch*1280 + 16 < 262144 ? 1 : count;
    if (me < few) k35(call, me, few, (const float *)call->at[30], (float *)call->at[33]);
    dg_wait(call->barrier, count);
    if (me == 0) {
        // multiply: SGD tests/programs.py:34  return {"loss": loss}, optim.SGD(lr=0.1).updates(loss, model.parameters)
        k36(me, 1, (const float *)call->at[8], (const float *)call->at[33], (float *)call->at[33]);
        // subtract: SGD tests/programs.py:34  return {"loss": loss}, optim.SGD(lr=0.1).updates(loss, model.parameters)
        k37(me, 1, (const float *)call->at[4], (const float *)call->at[33], (float *)call->at[4]);
    }
    dg_wait(call->barrier, count);
    // matmul: 4 tests/programs.py:33  loss = nn.softmax_cross_entropy(model(x, training=True), t)
    few = n_batch*652 + 768 < 262144 ? 1 : count;
    if (me < few) k38(call, me, few, (const float *)call->at[13], (const float *)call->at[26], (float *)call->at[34]);
    dg_wait(call->barrier, count);
    if (me == 0) {
        // multiply: SGD tests/programs.py:34  return {"loss": loss}, optim.SGD(lr=0.1).updates(loss, model.parameters)
        k39(me, 1, (const float *)call->at[8], (const float *)call->at[34], (float *)call->at[34]);
        // subtract: SGD tests/programs.py:34  return {"loss": loss}, optim.SGD(lr=0.1).updates(loss, model.parameters)
        k40(me, 1, (const float *)call->at[5], (const float *)call->at[34], (float *)call->at[5]);
    }
    dg_wait(call->barrier, count);
    // sum: 4 tests/programs.py:33  loss = nn.softmax_cross_entropy(model(x, training=True), t)
    few = n_batch*15 + 12 < 262144 ? 1 : count;
    if (me < few) k41(call, me, few, (const float *)call->at[26], (float *)call->at[35]);
    dg_wait(call->barrier, count);
    if (me == 0) {
        // multiply: SGD tests/programs.py:34  return {"loss": loss}, optim.SGD(lr=0.1).updates(loss, model.parameters)
        k42(me, 1, (const float *)call->at[8], (const float *)call->at[35], (float *)call->at[35]);
        // subtract: SGD tests/programs.py:34  return {"loss": loss}, optim.SGD(lr=0.1).updates(loss, model.parameters)
        k43(me, 1, (const float *)call->at[6], (const float *)call->at[35], (float *)call->at[6]);
    }
}

p0_weight, p0_bias, p4_weight, p4_bias, iteration, lr, = parameters
c0, = constants


def step(x, t, out_loss):
    bad = part0(x, t, out_loss)
    # pad: 0 tests/programs.py:33  loss = nn.softmax_cross_entropy(model(x, training=True), t)
    # copy: 0 tests/programs.py:33  loss = nn.softmax_cross_entropy(model(x, training=True), t)
    # matmul: 0 tests/programs.py:33  loss = nn.softmax_cross_entropy(model(x, training=True), t)
    # add: 0 tests/programs.py:33  loss = nn.softmax_cross_entropy(model(x, training=True), t)
    # relu: tests/programs.py:33  loss = nn.softmax_cross_entropy(model(x, training=True), t)
    # max_pool2d: 2 tests/programs.py:33  loss = nn.softmax_cross_entropy(model(x, training=True), t)
    # matmul: 4 tests/programs.py:33  loss = nn.softmax_cross_entropy(model(x, training=True), t)
    # add: 4 tests/programs.py:33  loss = nn.softmax_cross_entropy(model(x, training=True), t)
    # max: tests/programs.py:33  loss = nn.softmax_cross_entropy(model(x, training=True), t)
    # subtract: tests/programs.py:33  loss = nn.softmax_cross_entropy(model(x, training=True), t)
    # exp: tests/programs.py:33  loss = nn.softmax_cross_entropy(model(x, training=True), t)
    # sum: tests/programs.py:33  loss = nn.softmax_cross_entropy(model(x, training=True), t)
    # log: tests/programs.py:33  loss = nn.softmax_cross_entropy(model(x, training=True), t)
    # check_index: tests/programs.py:33  loss = nn.softmax_cross_entropy(model(x, training=True), t)
    if bad and bad[0] == 0: raise lib.bad_value(bad[1], bad[2], 'target')
    # equal: tests/programs.py:33  loss = nn.softmax_cross_entropy(model(x, training=True), t)
    # where: tests/programs.py:33  loss = nn.softmax_cross_entropy(model(x, training=True), t)
    # sum: tests/programs.py:33  loss = nn.softmax_cross_entropy(model(x, training=True), t)
    # subtract: tests/programs.py:33  loss = nn.softmax_cross_entropy(model(x, training=True), t)
    # sum: tests/programs.py:33  loss = nn.softmax_cross_entropy(model(x, training=True), t)
    # divide: tests/programs.py:33  loss = nn.softmax_cross_entropy(model(x, training=True), t)
    # add: SGD tests/programs.py:34  return {"loss": loss}, optim.SGD(lr=0.1).updates(loss, model.parameters)
    # greater: tests/programs.py:33  loss = nn.softmax_cross_entropy(model(x, training=True), t)
    # divide: tests/programs.py:33  loss = nn.softmax_cross_entropy(model(x, training=True), t)
    # where: tests/programs.py:33  loss = nn.softmax_cross_entropy(model(x, training=True), t)
    # divide: tests/programs.py:33  loss = nn.softmax_cross_entropy(model(x, training=True), t)
    # divide: tests/programs.py:33  loss = nn.softmax_cross_entropy(model(x, training=True), t)
    # multiply: tests/programs.py:33  loss = nn.softmax_cross_entropy(model(x, training=True), t)
    # add: tests/programs.py:33  loss = nn.softmax_cross_entropy(model(x, training=True), t)
    # matmul: 4 tests/programs.py:33  loss = nn.softmax_cross_entropy(model(x, training=True), t)
    # max_pool2d_grad: 2 tests/programs.py:33  loss = nn.softmax_cross_entropy(model(x, training=True), t)
    # where: 0 tests/programs.py:33  loss = nn.softmax_cross_entropy(model(x, training=True), t)
    # matmul: 0 tests/programs.py:33  loss = nn.softmax_cross_entropy(model(x, training=True), t)
    # sum: 0 tests/programs.py:33  loss = nn.softmax_cross_entropy(model(x, training=True), t)
    # multiply: SGD tests/programs.py:34  return {"loss": loss}, optim.SGD(lr=0.1).updates(loss, model.parameters)
    # subtract: SGD tests/programs.py:34  return {"loss": loss}, optim.SGD(lr=0.1).updates(loss, model.parameters)
    # sum: 0 tests/programs.py:33  loss = nn.softmax_cross_entropy(model(x, training=True), t)
    # multiply: SGD tests/programs.py:34  return {"loss": loss}, optim.SGD(lr=0.1).updates(loss, model.parameters)
    # subtract: SGD tests/programs.py:34  return {"loss": loss}, optim.SGD(lr=0.1).updates(loss, model.parameters)
    # matmul: 4 tests/programs.py:33  loss = nn.softmax_cross_entropy(model(x, training=True), t)
    # multiply: SGD tests/programs.py:34  return {"loss": loss}, optim.SGD(lr=0.1).updates(loss, model.parameters)
    # subtract: SGD tests/programs.py:34  return {"loss": loss}, optim.SGD(lr=0.1).updates(loss, model.parameters)
    # sum: 4 tests/programs.py:33  loss = nn.softmax_cross_entropy(model(x, training=True), t)
    # multiply: SGD tests/programs.py:34  return {"loss": loss}, optim.SGD(lr=0.1).updates(loss, model.parameters)
    # subtract: SGD tests/programs.py:34  return {"loss": loss}, optim.SGD(lr=0.1).updates(loss, model.parameters)
