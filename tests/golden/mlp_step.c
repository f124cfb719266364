#include "loops.h"
#include "indexing.h"
#include "matmul.h"

// add: SGD tests/programs.py:23  return {"loss": loss}, opt.updates(loss, model.parameters)
// map over ()
static void k0(int64_t me, const int64_t *a0, int64_t *y0) {
    if (me) return;
    const int64_t r0 = a0[0];
    // tests/programs.py:23  return {"loss": loss}, opt.updates(loss, model.parameters)
    const int64_t r1 = r0 + INT64_C(1);
    y0[0] = r1;
}

// check_index: tests/programs.py:21  loss = nn.softmax_cross_entropy(model(x, training=True), t)
// call over (batch,)
static void k1(dg_call *call, int64_t me, int64_t count, const int64_t *a0) {
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

static void k1_1(dg_call *call, int64_t me, int64_t count, const int64_t *a0, int64_t *restrict y0) {
    const int64_t n_batch = call->size[0];
    const int64_t low4 = dg_share(n_batch, 16, me, count);
    const int64_t high4 = dg_share(n_batch, 16, me + 1, count);
    #pragma omp simd
    for (int64_t i3 = low4; i3 < high4; i3++) {
        y0[i3] = a0[i3];
    }
}

// equal: tests/programs.py:21  loss = nn.softmax_cross_entropy(model(x, training=True), t)
// map over (batch, 3)
static void k2(dg_call *call, int64_t me, int64_t count, const int64_t *a0, const int64_t *a1, dg_bool *y0) {
    const int64_t n_batch = call->size[0];
    const int64_t low = dg_share(n_batch, 1, me, count);
    const int64_t high = dg_share(n_batch, 1, me + 1, count);
    for (int64_t i0 = low; i0 < high; i0++) {
        const int64_t r0 = a0[i0];
        #pragma omp simd
        for (int64_t i1 = 0; i1 < 3; i1++) {
            const int64_t r1 = a1[i1];
            // tests/programs.py:21  loss = nn.softmax_cross_entropy(model(x, training=True), t)
            const dg_bool r2 = dg_equal(r0, r1);
            y0[i0 * 3 + i1] = r2;
        }
    }
}

// divide_where: tests/programs.py:21  loss = nn.softmax_cross_entropy(model(x, training=True), t)
// map over (batch*3,)
static void k3(dg_call *call, int64_t me, int64_t count, const dg_bool *a0, float *y0) {
    const int64_t n_batch = call->size[0];
    const int64_t low = dg_share(n_batch*3, 64, me, count);
    const int64_t high = dg_share(n_batch*3, 64, me + 1, count);
    // tests/programs.py:21  loss = nn.softmax_cross_entropy(model(x, training=True), t)
    const float r1 = (-1.0f) / dg_to_float32((n_batch));
    #pragma omp simd
    for (int64_t i0 = low; i0 < high; i0++) {
        const dg_bool r0 = a0[i0];
        const float r2 = r0 ? r1 : 0.0f;
        y0[i0] = r2;
    }
}

// matmul: 0 tests/programs.py:21  loss = nn.softmax_cross_entropy(model(x, training=True), t)
// call over (batch, 6)
static void k4(dg_call *call, int64_t me, int64_t count, const float *a0, const float *a1, float *restrict y0) {
    const int64_t n_batch = call->size[0];
    dg_matmul_float32(call, me, count, n_batch, 6, 8, a0 + 0, 8, 1, a1 + 0, 6, 1, y0 + 0, 6, 1);
}

// add_relu: tests/programs.py:21  loss = nn.softmax_cross_entropy(model(x, training=True), t)
// map over (batch, 6)
static void k5(dg_call *call, int64_t me, int64_t count, const float *a0, const float *a1, float *y0) {
    const int64_t n_batch = call->size[0];
    const int64_t low = dg_share(n_batch, 1, me, count);
    const int64_t high = dg_share(n_batch, 1, me + 1, count);
    for (int64_t i0 = low; i0 < high; i0++) {
        #pragma omp simd
        for (int64_t i1 = 0; i1 < 6; i1++) {
            const float r0 = a0[i0 * 6 + i1];
            const float r1 = a1[i1];
            // tests/programs.py:21  loss = nn.softmax_cross_entropy(model(x, training=True), t)
            const float r2 = r0 + r1;
            const float r3 = dg_relu(r2);
            y0[i0 * 6 + i1] = r3;
        }
    }
}

// greater: tests/programs.py:21  loss = nn.softmax_cross_entropy(model(x, training=True), t)
// map over (batch*6,)
static void k6(dg_call *call, int64_t me, int64_t count, const float *a0, dg_bool *y0) {
    const int64_t n_batch = call->size[0];
    const int64_t low = dg_share(n_batch*6, 64, me, count);
    const int64_t high = dg_share(n_batch*6, 64, me + 1, count);
    #pragma omp simd
    for (int64_t i0 = low; i0 < high; i0++) {
        const float r0 = a0[i0];
        // tests/programs.py:21  loss = nn.softmax_cross_entropy(model(x, training=True), t)
        const dg_bool r1 = dg_greater(r0, 0.0f);
        y0[i0] = r1;
    }
}

// matmul: 2 tests/programs.py:21  loss = nn.softmax_cross_entropy(model(x, training=True), t)
// call over (batch, 3)
static void k7(dg_call *call, int64_t me, int64_t count, const float *a0, const float *a1, float *restrict y0) {
    const int64_t n_batch = call->size[0];
    dg_matmul_float32(call, me, count, n_batch, 3, 6, a0 + 0, 6, 1, a1 + 0, 3, 1, y0 + 0, 3, 1);
}

// add_max_subtract: tests/programs.py:21  loss = nn.softmax_cross_entropy(model(x, training=True), t)
// row over (batch, 3)
static void k8(dg_call *call, int64_t me, int64_t count, const float *a0, const float *a1, float *y0) {
    const int64_t n_batch = call->size[0];
    const int64_t low = dg_share(n_batch, 1, me, count);
    const int64_t high = dg_share(n_batch, 1, me + 1, count);
    for (int64_t i0 = low; i0 < high; i0++) {
        float f3 = (-INFINITY);
        {
            float s3 = (-INFINITY);
            int n3 = 0;
            #pragma omp simd reduction(max:s3) reduction(|:n3)
            for (int64_t i1 = 0; i1 < 3; i1++) {
                const float r0 = a0[i0 * 3 + i1];
                const float r1 = a1[i1];
                // tests/programs.py:21  loss = nn.softmax_cross_entropy(model(x, training=True), t)
                const float r2 = r0 + r1;
                s3 = r2 > s3 ? r2 : s3;
                n3 |= r2 != r2;
            }
            f3 = dg_maximum(f3, (n3 ? (float)NAN : s3));
        }
        const float r3 = f3;
        #pragma omp simd
        for (int64_t i1 = 0; i1 < 3; i1++) {
            const float r0 = a0[i0 * 3 + i1];
            const float r1 = a1[i1];
            const float r2 = r0 + r1;
            const float r4 = r2 - r3;
            y0[i0 * 3 + i1] = r4;
        }
    }
}

// where_sum: tests/programs.py:21  loss = nn.softmax_cross_entropy(model(x, training=True), t)
// fold over (batch, 3)
static void k9(dg_call *call, int64_t me, int64_t count, const dg_bool *a0, const float *a1, float *y0) {
    const int64_t n_batch = call->size[0];
    const int64_t low = dg_share(n_batch, 1, me, count);
    const int64_t high = dg_share(n_batch, 1, me + 1, count);
    for (int64_t i0 = low; i0 < high; i0++) {
        double f3 = 0.0;
        {
            float s3 = 0.0f;
            #pragma omp simd reduction(+:s3)
            for (int64_t i1 = 0; i1 < 3; i1++) {
                const dg_bool r0 = a0[i0 * 3 + i1];
                const float r1 = a1[i0 * 3 + i1];
                // tests/programs.py:21  loss = nn.softmax_cross_entropy(model(x, training=True), t)
                const float r2 = r0 ? r1 : 0.0f;
                s3 += r2;
            }
            f3 += s3;
        }
        const float r3 = f3;
        y0[i0] = r3;
    }
}

// exp: tests/programs.py:21  loss = nn.softmax_cross_entropy(model(x, training=True), t)
// map over (batch*3,)
static void k10(dg_call *call, int64_t me, int64_t count, const float *a0, float *y0) {
    const int64_t n_batch = call->size[0];
    const int64_t low = dg_share(n_batch*3, 64, me, count);
    const int64_t high = dg_share(n_batch*3, 64, me + 1, count);
    #pragma omp simd
    for (int64_t i0 = low; i0 < high; i0++) {
        const float r0 = a0[i0];
        // tests/programs.py:21  loss = nn.softmax_cross_entropy(model(x, training=True), t)
        const float r1 = dg_exp(r0);
        y0[i0] = r1;
    }
}

// sum: tests/programs.py:21  loss = nn.softmax_cross_entropy(model(x, training=True), t)
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
        // tests/programs.py:21  loss = nn.softmax_cross_entropy(model(x, training=True), t)
        const float r1 = f1;
        y0[i0] = r1;
    }
}

// log_subtract_sum_divide: tests/programs.py:21  loss = nn.softmax_cross_entropy(model(x, training=True), t)
// fold over (batch,)
static void k12(dg_call *call, int64_t me, int64_t count, const float *a0, const float *a1, char *t0) {
    const int64_t n_batch = call->size[0];
    double *const m4 = (double *)(t0 + me * dg_padded(8));
    const int64_t low = dg_share(n_batch, 64, me, count);
    const int64_t high = dg_share(n_batch, 64, me + 1, count);
    m4[0] = 0.0;
    for (int64_t s = low; s < high; s += 1024) {
        const int64_t e = dg_min(s + 1024, high);
        float s4 = 0.0f;
        #pragma omp simd reduction(+:s4)
        for (int64_t i0 = s; i0 < e; i0++) {
            const float r0 = a0[i0];
            const float r1 = a1[i0];
            // tests/programs.py:21  loss = nn.softmax_cross_entropy(model(x, training=True), t)
            const float r2 = dg_log(r0);
            const float r3 = r2 - r1;
            s4 += r3;
        }
        m4[0] += s4;
    }
}

static void k12_1(dg_call *call, int64_t me, int64_t count, float *y0, char *t0) {
    const int64_t n_batch = call->size[0];
    double *const m4 = (double *)(t0 + me * dg_padded(8));
    if (me) return;
    for (int64_t other = 1; other < count; other++) {
        const double *const part = (const double *)(t0 + other * dg_padded(8));
        m4[0] += part[0];
    }
    // tests/programs.py:21  loss = nn.softmax_cross_entropy(model(x, training=True), t)
    const float r4 = m4[0];
    const float r5 = r4 / dg_to_float32((n_batch));
    y0[0] = r5;
}

// divide: tests/programs.py:21  loss = nn.softmax_cross_entropy(model(x, training=True), t)
// map over (batch,)
static void k13(dg_call *call, int64_t me, int64_t count, const float *a0, float *y0) {
    const int64_t n_batch = call->size[0];
    const int64_t low = dg_share(n_batch, 64, me, count);
    const int64_t high = dg_share(n_batch, 64, me + 1, count);
    // tests/programs.py:21  loss = nn.softmax_cross_entropy(model(x, training=True), t)
    const float r1 = 1.0f / dg_to_float32((n_batch));
    #pragma omp simd
    for (int64_t i0 = low; i0 < high; i0++) {
        const float r0 = a0[i0];
        const float r2 = r1 / r0;
        y0[i0] = r2;
    }
}

// multiply_add: tests/programs.py:21  loss = nn.softmax_cross_entropy(model(x, training=True), t)
// map over (batch, 3)
static void k14(dg_call *call, int64_t me, int64_t count, const float *a0, const float *a1, const float *a2, float *y0) {
    const int64_t n_batch = call->size[0];
    const int64_t low = dg_share(n_batch, 1, me, count);
    const int64_t high = dg_share(n_batch, 1, me + 1, count);
    for (int64_t i0 = low; i0 < high; i0++) {
        const float r0 = a0[i0];
        #pragma omp simd
        for (int64_t i1 = 0; i1 < 3; i1++) {
            const float r1 = a1[i0 * 3 + i1];
            const float r2 = a2[i0 * 3 + i1];
            // tests/programs.py:21  loss = nn.softmax_cross_entropy(model(x, training=True), t)
            const float r3 = r0 * r1;
            const float r4 = r2 + r3;
            y0[i0 * 3 + i1] = r4;
        }
    }
}

// matmul: 2 tests/programs.py:21  loss = nn.softmax_cross_entropy(model(x, training=True), t)
// call over (6, 3)
static void k15(dg_call *call, int64_t me, int64_t count, const float *a0, const float *a1, float *restrict y0) {
    const int64_t n_batch = call->size[0];
    dg_matmul_float32(call, me, count, 6, 3, n_batch, a0 + 0, 1, 6, a1 + 0, 3, 1, y0 + 0, 3, 1);
}

// multiply_add: SGD tests/programs.py:23  return {"loss": loss}, opt.updates(loss, model.parameters)
// map over (18,)
static void k16(int64_t me, int64_t count, const float *a0, const float *a1, float *y0) {
    const int64_t low = dg_share(18, 64, me, count);
    const int64_t high = dg_share(18, 64, me + 1, count);
    #pragma omp simd
    for (int64_t i0 = low; i0 < high; i0++) {
        const float r0 = a0[i0];
        const float r1 = a1[i0];
        // tests/programs.py:23  return {"loss": loss}, opt.updates(loss, model.parameters)
        const float r2 = 0.9f * r0;
        const float r3 = r2 + r1;
        y0[i0] = r3;
    }
}

// multiply_sum_add: SGD tests/programs.py:23  return {"loss": loss}, opt.updates(loss, model.parameters)
// fold over (batch, 3)
static void k17(dg_call *call, int64_t me, int64_t count, const float *a0, const float *a1, float *y0) {
    const int64_t n_batch = call->size[0];
    double m3[256];
    const int64_t low = dg_share(3, 64, me, count);
    const int64_t high = dg_share(3, 64, me + 1, count);
    for (int64_t s = low; s < high; s += 256) {
        const int64_t e = dg_min(s + 256, high);
        for (int64_t i1 = s; i1 < e; i1++) {
            m3[(i1 - s)] = 0.0;
        }
        for (int64_t i0 = 0; i0 < n_batch; i0++) {
            #pragma omp simd
            for (int64_t i1 = s; i1 < e; i1++) {
                const float r1 = a1[i0 * 3 + i1];
                m3[(i1 - s)] += r1;
            }
        }
        #pragma omp simd
        for (int64_t i1 = s; i1 < e; i1++) {
            const float r0 = a0[i1];
            // tests/programs.py:23  return {"loss": loss}, opt.updates(loss, model.parameters)
            const float r2 = 0.9f * r0;
            // tests/programs.py:21  loss = nn.softmax_cross_entropy(model(x, training=True), t)
            const float r3 = m3[(i1 - s)];
            // tests/programs.py:23  return {"loss": loss}, opt.updates(loss, model.parameters)
            const float r4 = r2 + r3;
            y0[i1] = r4;
        }
    }
}

// multiply_subtract: SGD tests/programs.py:23  return {"loss": loss}, opt.updates(loss, model.parameters)
// map over (3,)
static void k18(int64_t me, int64_t count, const float *a0, const float *a1, const float *a2, float *y0) {
    const int64_t low = dg_share(3, 64, me, count);
    const int64_t high = dg_share(3, 64, me + 1, count);
    const float r0 = a0[0];
    #pragma omp simd
    for (int64_t i0 = low; i0 < high; i0++) {
        const float r1 = a1[i0];
        const float r2 = a2[i0];
        // tests/programs.py:23  return {"loss": loss}, opt.updates(loss, model.parameters)
        const float r3 = r0 * r1;
        const float r4 = r2 - r3;
        y0[i0] = r4;
    }
}

// matmul: 2 tests/programs.py:21  loss = nn.softmax_cross_entropy(model(x, training=True), t)
// call over (batch, 6)
static void k19(dg_call *call, int64_t me, int64_t count, const float *a0, const float *a1, float *restrict y0) {
    const int64_t n_batch = call->size[0];
    dg_matmul_float32(call, me, count, n_batch, 6, 3, a0 + 0, 3, 1, a1 + 0, 1, 3, y0 + 0, 6, 1);
}

// where: 0 tests/programs.py:21  loss = nn.softmax_cross_entropy(model(x, training=True), t)
// map over (batch*6,)
static void k20(dg_call *call, int64_t me, int64_t count, const dg_bool *a0, const float *a1, float *y0) {
    const int64_t n_batch = call->size[0];
    const int64_t low = dg_share(n_batch*6, 64, me, count);
    const int64_t high = dg_share(n_batch*6, 64, me + 1, count);
    #pragma omp simd
    for (int64_t i0 = low; i0 < high; i0++) {
        const dg_bool r0 = a0[i0];
        const float r1 = a1[i0];
        // tests/programs.py:21  loss = nn.softmax_cross_entropy(model(x, training=True), t)
        const float r2 = r0 ? r1 : 0.0f;
        y0[i0] = r2;
    }
}

// multiply_sum_add: SGD tests/programs.py:23  return {"loss": loss}, opt.updates(loss, model.parameters)
// fold over (batch, 6)
static void k21(dg_call *call, int64_t me, int64_t count, const float *a0, const float *a1, float *y0) {
    const int64_t n_batch = call->size[0];
    double m3[256];
    const int64_t low = dg_share(6, 64, me, count);
    const int64_t high = dg_share(6, 64, me + 1, count);
    for (int64_t s = low; s < high; s += 256) {
        const int64_t e = dg_min(s + 256, high);
        for (int64_t i1 = s; i1 < e; i1++) {
            m3[(i1 - s)] = 0.0;
        }
        for (int64_t i0 = 0; i0 < n_batch; i0++) {
            #pragma omp simd
            for (int64_t i1 = s; i1 < e; i1++) {
                const float r1 = a1[i0 * 6 + i1];
                m3[(i1 - s)] += r1;
            }
        }
        #pragma omp simd
        for (int64_t i1 = s; i1 < e; i1++) {
            const float r0 = a0[i1];
            // tests/programs.py:23  return {"loss": loss}, opt.updates(loss, model.parameters)
            const float r2 = 0.9f * r0;
            // tests/programs.py:21  loss = nn.softmax_cross_entropy(model(x, training=True), t)
            const float r3 = m3[(i1 - s)];
            // tests/programs.py:23  return {"loss": loss}, opt.updates(loss, model.parameters)
            const float r4 = r2 + r3;
            y0[i1] = r4;
        }
    }
}

// matmul: 0 tests/programs.py:21  loss = nn.softmax_cross_entropy(model(x, training=True), t)
// call over (8, 6)
static void k22(dg_call *call, int64_t me, int64_t count, const float *a0, const float *a1, float *restrict y0) {
    const int64_t n_batch = call->size[0];
    dg_matmul_float32(call, me, count, 8, 6, n_batch, a0 + 0, 1, 8, a1 + 0, 6, 1, y0 + 0, 6, 1);
}

// multiply_add: SGD tests/programs.py:23  return {"loss": loss}, opt.updates(loss, model.parameters)
// map over (48,)
static void k23(int64_t me, int64_t count, const float *a0, const float *a1, float *y0) {
    const int64_t low = dg_share(48, 64, me, count);
    const int64_t high = dg_share(48, 64, me + 1, count);
    #pragma omp simd
    for (int64_t i0 = low; i0 < high; i0++) {
        const float r0 = a0[i0];
        const float r1 = a1[i0];
        // tests/programs.py:23  return {"loss": loss}, opt.updates(loss, model.parameters)
        const float r2 = 0.9f * r0;
        const float r3 = r2 + r1;
        y0[i0] = r3;
    }
}

// multiply_subtract: SGD tests/programs.py:23  return {"loss": loss}, opt.updates(loss, model.parameters)
// map over (6,)
static void k24(int64_t me, int64_t count, const float *a0, const float *a1, const float *a2, float *y0) {
    const int64_t low = dg_share(6, 64, me, count);
    const int64_t high = dg_share(6, 64, me + 1, count);
    const float r0 = a0[0];
    #pragma omp simd
    for (int64_t i0 = low; i0 < high; i0++) {
        const float r1 = a1[i0];
        const float r2 = a2[i0];
        // tests/programs.py:23  return {"loss": loss}, opt.updates(loss, model.parameters)
        const float r3 = r0 * r1;
        const float r4 = r2 - r3;
        y0[i0] = r4;
    }
}

// multiply_subtract: SGD tests/programs.py:23  return {"loss": loss}, opt.updates(loss, model.parameters)
// map over (18,)
static void k25(int64_t me, int64_t count, const float *a0, const float *a1, const float *a2, float *y0) {
    const int64_t low = dg_share(18, 64, me, count);
    const int64_t high = dg_share(18, 64, me + 1, count);
    const float r0 = a0[0];
    #pragma omp simd
    for (int64_t i0 = low; i0 < high; i0++) {
        const float r1 = a1[i0];
        const float r2 = a2[i0];
        // tests/programs.py:23  return {"loss": loss}, opt.updates(loss, model.parameters)
        const float r3 = r0 * r1;
        const float r4 = r2 - r3;
        y0[i0] = r4;
    }
}

// multiply_subtract: SGD tests/programs.py:23  return {"loss": loss}, opt.updates(loss, model.parameters)
// map over (48,)
static void k26(int64_t me, int64_t count, const float *a0, const float *a1, const float *a2, float *y0) {
    const int64_t low = dg_share(48, 64, me, count);
    const int64_t high = dg_share(48, 64, me + 1, count);
    const float r0 = a0[0];
    #pragma omp simd
    for (int64_t i0 = low; i0 < high; i0++) {
        const float r1 = a1[i0];
        const float r2 = a2[i0];
        // tests/programs.py:23  return {"loss": loss}, opt.updates(loss, model.parameters)
        const float r3 = r0 * r1;
        const float r4 = r2 - r3;
        y0[i0] = r4;
    }
}

void part0(dg_call *call, int me, int count) {
    const int64_t n_batch = call->size[0];
    int few;
    if (me == 0) {
        // add: SGD tests/programs.py:23  return {"loss": loss}, opt.updates(loss, model.parameters)
        k0(me, (const int64_t *)call->at[7], (int64_t *)call->at[7]);
    }
    dg_wait(call->barrier, count);
    // check_index: tests/programs.py:21  loss = nn.softmax_cross_entropy(model(x, training=True), t)
    few = n_batch*17 < 262144 ? 1 : count;
    if (me < few) k1(call, me, few, (const int64_t *)call->at[1]);
    dg_wait(call->barrier, count);
    if (dg_faulted(call, 1)) return;
    few = n_batch*17 < 262144 ? 1 : count;
    if (me < few) k1_1(call, me, few, (const int64_t *)call->at[1], (int64_t *)call->at[14]);
    dg_wait(call->barrier, count);
    // equal: tests/programs.py:21  loss = nn.softmax_cross_entropy(model(x, training=True), t)
    few = n_batch*14 + 24 < 262144 ? 1 : count;
    if (me < few) k2(call, me, few, (const int64_t *)call->at[14], (const int64_t *)call->at[13], (dg_bool *)call->at[15]);
    dg_wait(call->barrier, count);
    // divide_where: tests/programs.py:21  loss = nn.softmax_cross_entropy(model(x, training=True), t)
    few = n_batch*18 + 1 < 262144 ? 1 : count;
    if (me < few) k3(call, me, few, (const dg_bool *)call->at[15], (float *)call->at[16]);
    dg_wait(call->barrier, count);
    // matmul: 0 tests/programs.py:21  loss = nn.softmax_cross_entropy(model(x, training=True), t)
    few = n_batch*152 + 192 < 262144 ? 1 : count;
    if (me < few) k4(call, me, few, (const float *)call->at[0], (const float *)call->at[3], (float *)call->at[17]);
    dg_wait(call->barrier, count);
    // add_relu: tests/programs.py:21  loss = nn.softmax_cross_entropy(model(x, training=True), t)
    few = n_batch*60 + 24 < 262144 ? 1 : count;
    if (me < few) k5(call, me, few, (const float *)call->at[17], (const float *)call->at[4], (float *)call->at[17]);
    dg_wait(call->barrier, count);
    // greater: tests/programs.py:21  loss = nn.softmax_cross_entropy(model(x, training=True), t)
    few = n_batch*36 < 262144 ? 1 : count;
    if (me < few) k6(call, me, few, (const float *)call->at[17], (dg_bool *)call->at[18]);
    dg_wait(call->barrier, count);
    // matmul: 2 tests/programs.py:21  loss = nn.softmax_cross_entropy(model(x, training=True), t)
    few = n_batch*72 + 72 < 262144 ? 1 : count;
    if (me < few) k7(call, me, few, (const float *)call->at[17], (const float *)call->at[5], (float *)call->at[19]);
    dg_wait(call->barrier, count);
    // add_max_subtract: tests/programs.py:21  loss = nn.softmax_cross_entropy(model(x, training=True), t)
    few = n_batch*33 + 12 < 262144 ? 1 : count;
    if (me < few) k8(call, me, few, (const float *)call->at[19], (const float *)call->at[6], (float *)call->at[20]);
    dg_wait(call->barrier, count);
    // where_sum: tests/programs.py:21  loss = nn.softmax_cross_entropy(model(x, training=True), t)
    few = n_batch*25 < 262144 ? 1 : count;
    if (me < few) k9(call, me, few, (const dg_bool *)call->at[15], (const float *)call->at[20], (float *)call->at[21]);
    dg_wait(call->barrier, count);
    // exp: tests/programs.py:21  loss = nn.softmax_cross_entropy(model(x, training=True), t)
    few = n_batch*54 < 262144 ? 1 : count;
    if (me < few) k10(call, me, few, (const float *)call->at[20], (float *)call->at[20]);
    dg_wait(call->barrier, count);
    // sum: tests/programs.py:21  loss = nn.softmax_cross_entropy(model(x, training=True), t)
    few = n_batch*19 < 262144 ? 1 : count;
    if (me < few) k11(call, me, few, (const float *)call->at[20], (float *)call->at[22]);
    dg_wait(call->barrier, count);
    // log_subtract_sum_divide: tests/programs.py:21  loss = nn.softmax_cross_entropy(model(x, training=True), t)
    few = n_batch*20 + 5 < 262144 ? 1 : count;
    if (me < few) k12(call, me, few, (const float *)call->at[22], (const float *)call->at[21], call->at[23]);
    dg_wait(call->barrier, count);
    few = n_batch*20 + 5 < 262144 ? 1 : count;
    if (me < few) k12_1(call, me, few, (float *)call->at[2], call->at[23]);
    dg_wait(call->barrier, count);
    // divide: tests/programs.py:21  loss = nn.softmax_cross_entropy(model(x, training=True), t)
    few = n_batch*9 + 1 < 262144 ? 1 : count;
    if (me < few) k13(call, me, few, (const float *)call->at[22], (float *)call->at[22]);
    dg_wait(call->barrier, count);
    // multiply_add: tests/programs.py:21  loss = nn.softmax_cross_entropy(model(x, training=True), t)
    few = n_batch*46 < 262144 ? 1 : count;
    if (me < few) k14(call, me, few, (const float *)call->at[22], (const float *)call->at[20], (const float *)call->at[16], (float *)call->at[20]);
    dg_wait(call->barrier, count);
    // matmul: 2 tests/programs.py:21  loss = nn.softmax_cross_entropy(model(x, training=True), t)
    few = n_batch*72 + 72 < 262144 ? 1 : count;
    if (me < few) k15(call, me, few, (const float *)call->at[17], (const float *)call->at[20], (float *)call->at[24]);
    dg_wait(call->barrier, count);
    if (me == 0) {
        // multiply_add: SGD tests/programs.py:23  return {"loss": loss}, opt.updates(loss, model.parameters)
        k16(me, 1, (const float *)call->at[11], (const float *)call->at[24], (float *)call->at[11]);
    }
    dg_wait(call->barrier, count);
    // multiply_sum_add: SGD tests/programs.py:23  return {"loss": loss}, opt.updates(loss, model.parameters)
    few = n_batch*15 + 30 < 262144 ? 1 : count;
    if (me < few) k17(call, me, few, (const float *)call->at[12], (const float *)call->at[20], (float *)call->at[25]);
    dg_wait(call->barrier, count);
    if (me == 0) {
        // multiply_subtract: SGD tests/programs.py:23  return {"loss": loss}, opt.updates(loss, model.parameters)
        k18(me, 1, (const float *)call->at[9], (const float *)call->at[25], (const float *)call->at[6], (float *)call->at[6]);
    }
    dg_wait(call->barrier, count);
    // matmul: 2 tests/programs.py:21  loss = nn.softmax_cross_entropy(model(x, training=True), t)
    few = n_batch*72 + 72 < 262144 ? 1 : count;
    if (me < few) k19(call, me, few, (const float *)call->at[20], (const float *)call->at[5], (float *)call->at[26]);
    dg_wait(call->barrier, count);
    // where: 0 tests/programs.py:21  loss = nn.softmax_cross_entropy(model(x, training=True), t)
    few = n_batch*60 < 262144 ? 1 : count;
    if (me < few) k20(call, me, few, (const dg_bool *)call->at[18], (const float *)call->at[26], (float *)call->at[26]);
    dg_wait(call->barrier, count);
    // multiply_sum_add: SGD tests/programs.py:23  return {"loss": loss}, opt.updates(loss, model.parameters)
    few = n_batch*30 + 60 < 262144 ? 1 : count;
    if (me < few) k21(call, me, few, (const float *)call->at[10], (const float *)call->at[26], (float *)call->at[27]);
    dg_wait(call->barrier, count);
    // matmul: 0 tests/programs.py:21  loss = nn.softmax_cross_entropy(model(x, training=True), t)
    few = n_batch*152 + 192 < 262144 ? 1 : count;
    if (me < few) k22(call, me, few, (const float *)call->at[0], (const float *)call->at[26], (float *)call->at[28]);
    dg_wait(call->barrier, count);
    if (me == 0) {
        // multiply_add: SGD tests/programs.py:23  return {"loss": loss}, opt.updates(loss, model.parameters)
        k23(me, 1, (const float *)call->at[8], (const float *)call->at[28], (float *)call->at[8]);
        // multiply_subtract: SGD tests/programs.py:23  return {"loss": loss}, opt.updates(loss, model.parameters)
        k24(me, 1, (const float *)call->at[9], (const float *)call->at[27], (const float *)call->at[4], (float *)call->at[4]);
        // multiply_subtract: SGD tests/programs.py:23  return {"loss": loss}, opt.updates(loss, model.parameters)
        k25(me, 1, (const float *)call->at[9], (const float *)call->at[11], (const float *)call->at[5], (float *)call->at[5]);
        // multiply_subtract: SGD tests/programs.py:23  return {"loss": loss}, opt.updates(loss, model.parameters)
        k26(me, 1, (const float *)call->at[9], (const float *)call->at[8], (const float *)call->at[3], (float *)call->at[3]);
    }
}

p0_weight, p0_bias, p2_weight, p2_bias, iteration, momentum_0_weight, lr, momentum_0_bias, momentum_2_weight, momentum_2_bias, = parameters
c0, = constants
v0 = slot(11, (3,), 'float32')
v1 = slot(13, (6,), 'float32')


def step(x, t, out_loss):
    bad = part0(x, t, out_loss)
    # add: SGD tests/programs.py:23  return {"loss": loss}, opt.updates(loss, model.parameters)
    # check_index: tests/programs.py:21  loss = nn.softmax_cross_entropy(model(x, training=True), t)
    if bad and bad[0] == 0: raise lib.bad_value(bad[1], bad[2], 'target')
    # equal: tests/programs.py:21  loss = nn.softmax_cross_entropy(model(x, training=True), t)
    # divide_where: tests/programs.py:21  loss = nn.softmax_cross_entropy(model(x, training=True), t)
    # matmul: 0 tests/programs.py:21  loss = nn.softmax_cross_entropy(model(x, training=True), t)
    # add_relu: tests/programs.py:21  loss = nn.softmax_cross_entropy(model(x, training=True), t)
    # greater: tests/programs.py:21  loss = nn.softmax_cross_entropy(model(x, training=True), t)
    # matmul: 2 tests/programs.py:21  loss = nn.softmax_cross_entropy(model(x, training=True), t)
    # add_max_subtract: tests/programs.py:21  loss = nn.softmax_cross_entropy(model(x, training=True), t)
    # where_sum: tests/programs.py:21  loss = nn.softmax_cross_entropy(model(x, training=True), t)
    # exp: tests/programs.py:21  loss = nn.softmax_cross_entropy(model(x, training=True), t)
    # sum: tests/programs.py:21  loss = nn.softmax_cross_entropy(model(x, training=True), t)
    # log_subtract_sum_divide: tests/programs.py:21  loss = nn.softmax_cross_entropy(model(x, training=True), t)
    # divide: tests/programs.py:21  loss = nn.softmax_cross_entropy(model(x, training=True), t)
    # multiply_add: tests/programs.py:21  loss = nn.softmax_cross_entropy(model(x, training=True), t)
    # matmul: 2 tests/programs.py:21  loss = nn.softmax_cross_entropy(model(x, training=True), t)
    # multiply_add: SGD tests/programs.py:23  return {"loss": loss}, opt.updates(loss, model.parameters)
    # multiply_sum_add: SGD tests/programs.py:23  return {"loss": loss}, opt.updates(loss, model.parameters)
    # multiply_subtract: SGD tests/programs.py:23  return {"loss": loss}, opt.updates(loss, model.parameters)
    # matmul: 2 tests/programs.py:21  loss = nn.softmax_cross_entropy(model(x, training=True), t)
    # where: 0 tests/programs.py:21  loss = nn.softmax_cross_entropy(model(x, training=True), t)
    # multiply_sum_add: SGD tests/programs.py:23  return {"loss": loss}, opt.updates(loss, model.parameters)
    # matmul: 0 tests/programs.py:21  loss = nn.softmax_cross_entropy(model(x, training=True), t)
    # multiply_add: SGD tests/programs.py:23  return {"loss": loss}, opt.updates(loss, model.parameters)
    # multiply_subtract: SGD tests/programs.py:23  return {"loss": loss}, opt.updates(loss, model.parameters)
    # multiply_subtract: SGD tests/programs.py:23  return {"loss": loss}, opt.updates(loss, model.parameters)
    # multiply_subtract: SGD tests/programs.py:23  return {"loss": loss}, opt.updates(loss, model.parameters)
    # new values
    np.copyto(momentum_2_bias, v0)
    np.copyto(momentum_0_bias, v1)
