#include "loops.h"
#include "indexing.h"
#include "convolution.h"
#include "matmul.h"

// check_index: softmax_cross_entropy tests/programs.py:33  loss = nn.softmax_cross_entropy(model(x, training=True), t)
// call over (batch,)
void k0(dg_call *call, int64_t me, int64_t count, const int64_t *a0) {
    const int64_t n_batch = call->size[0];
    const int64_t low1 = dg_share(n_batch, 16, me, count);
    const int64_t high1 = dg_share(n_batch, 16, me + 1, count);
    int bad = 0;
    #pragma omp simd reduction(|:bad)
    for (int64_t i0 = low1; i0 < high1; i0++) {
        bad |= dg_outside((int64_t)a0[i0], 0, 3);
    }
    if (!__builtin_expect(bad, 0)) return;
    if (n_batch) {
        int64_t least = a0[0];
        int64_t greatest = least;
        for (int64_t i2 = 0; i2 < n_batch; i2++) {
            const int64_t j = a0[i2];
            least = j < least ? j : least;
            greatest = j > greatest ? j : greatest;
        }
        const int64_t told = dg_told((int64_t)least, (int64_t)greatest, 0, 3);
        if (dg_outside(told, 0, 3)) {
            dg_fault(call, 0, told, 3);
            return;
        }
    }
}

void k0_1(dg_call *call, int64_t me, int64_t count, const int64_t *a0, int64_t *restrict y0) {
    const int64_t n_batch = call->size[0];
    const int64_t low4 = dg_share(n_batch, 16, me, count);
    const int64_t high4 = dg_share(n_batch, 16, me + 1, count);
    #pragma omp simd
    for (int64_t i3 = low4; i3 < high4; i3++) {
        y0[i3] = a0[i3];
    }
}

// add: SGD tests/programs.py:34  return {"loss": loss}, optim.SGD(lr=0.1).updates(loss, model.parameters)
// map over ()
void k1(int64_t me, const int64_t *a0, int64_t *y0) {
    if (me) return;
    const int64_t r0 = a0[0];
    // tests/programs.py:34  return {"loss": loss}, optim.SGD(lr=0.1).updates(loss, model.parameters)
    const int64_t r1 = r0 + INT64_C(1);
    y0[0] = r1;
}

// copy: tests/programs.py:28  x = dg.placeholder("x", ("batch", 1, 8, 8))
// map over (64, batch)
void k2(dg_call *call, int64_t me, int64_t count, const float *a0, float *y0) {
    const int64_t n_batch = call->size[0];
    const int64_t low = dg_share(64, 1, me, count);
    const int64_t high = dg_share(64, 1, me + 1, count);
    for (int64_t i0 = low; i0 < high; i0++) {
        #pragma omp simd
        for (int64_t i1 = 0; i1 < n_batch; i1++) {
            const float r0 = a0[i0 + i1 * 64];
            // tests/programs.py:28  x = dg.placeholder("x", ("batch", 1, 8, 8))
            const float r1 = r0;
            y0[i0 * n_batch + i1] = r1;
        }
    }
}

// conv2d: 0 tests/programs.py:33  loss = nn.softmax_cross_entropy(model(x, training=True), t)
// call over (batch, 4, 8, 8)
void k3(dg_call *call, int64_t me, int64_t count, const float *a0, const float *a1, float *restrict y0, char *t0) {
    const int64_t n_batch = call->size[0];
    const dg_windows how = {
        .images = n_batch, .groups = 1, .in = 1, .out = 4,
        .row = {.inputs = 8, .results = 8, .places = 3, .up = 1, .down = 1, .hole = 1, .shift = -1},
        .column = {.inputs = 8, .results = 8, .places = 3, .up = 1, .down = 1, .hole = 1, .shift = -1},
    };
    const dg_steps by = {.group = 36, .in = 9, .out = 9, .row = 3, .column = 1};
    dg_convolve_float32(DG_EVEN(4, DG_OUT), me, count, how, a0, a1, by, y0, (float *)(t0 + me * dg_padded(n_batch*132 + 64)), NULL);
}

// add_relu: tests/programs.py:33  loss = nn.softmax_cross_entropy(model(x, training=True), t)
// map over (4, batch*64)
void k4(dg_call *call, int64_t me, int64_t count, const float *a0, const float *a1, float *y0) {
    const int64_t n_batch = call->size[0];
    const int64_t low = dg_share(n_batch*64, 64, me, count);
    const int64_t high = dg_share(n_batch*64, 64, me + 1, count);
    for (int64_t i0 = 0; i0 < 4; i0++) {
        const float r1 = a1[i0];
        #pragma omp simd
        for (int64_t i1 = low; i1 < high; i1++) {
            const float r0 = a0[i0 * (n_batch*64) + i1];
            // tests/programs.py:33  loss = nn.softmax_cross_entropy(model(x, training=True), t)
            const float r2 = r0 + r1;
            const float r3 = dg_relu(r2);
            y0[i0 * (n_batch*64) + i1] = r3;
        }
    }
}

// max_pool2d: 2 tests/programs.py:33  loss = nn.softmax_cross_entropy(model(x, training=True), t)
// call over (batch, 4, 4, 4)
void k5(dg_call *call, int64_t me, int64_t count, const float *a0, float *restrict y0) {
    const int64_t n_batch = call->size[0];
    const int64_t low0 = dg_share(n_batch, 16, me, count);
    const int64_t high0 = dg_share(n_batch, 16, me + 1, count);
    for (int64_t i1 = 0; i1 < 4; i1++) {
        for (int64_t i2 = 0; i2 < 4; i2++) {
            for (int64_t i3 = 0; i3 < 4; i3++) {
                #pragma omp simd
                for (int64_t i0 = low0; i0 < high0; i0++) {
                    float top = (-INFINITY);
                    int nan = 0;
                    { const float x = a0[i0 + i1 * (n_batch*64) + (i2 * 2) * (n_batch*8) + (i3 * 2) * n_batch]; top = x > top ? x : top; nan |= x != x; }
                    { const float x = a0[i0 + i1 * (n_batch*64) + (i2 * 2) * (n_batch*8) + (i3 * 2 + 1) * n_batch]; top = x > top ? x : top; nan |= x != x; }
                    { const float x = a0[i0 + i1 * (n_batch*64) + (i2 * 2 + 1) * (n_batch*8) + (i3 * 2) * n_batch]; top = x > top ? x : top; nan |= x != x; }
                    { const float x = a0[i0 + i1 * (n_batch*64) + (i2 * 2 + 1) * (n_batch*8) + (i3 * 2 + 1) * n_batch]; top = x > top ? x : top; nan |= x != x; }
                    y0[i0 + i1 * (n_batch*16) + i2 * (n_batch*4) + i3 * n_batch] = nan ? (float)NAN : top;
                }
            }
        }
    }
}

// matmul: 4 tests/programs.py:33  loss = nn.softmax_cross_entropy(model(x, training=True), t)
// call over (batch, 3)
void k6(dg_call *call, int64_t me, int64_t count, const float *a0, const float *a1, float *restrict y0) {
    const int64_t n_batch = call->size[0];
    dg_matmul_float32(call, me, count, n_batch, 3, 64, a0, 1, n_batch, a1, 3, 1, y0, 3, 1);
}

// add_max_subtract_multiply: SGD.4.bias tests/programs.py:34  return {"loss": loss}, optim.SGD(lr=0.1).updates(loss, model.parameters)
// row over (batch, 3)
void k7(dg_call *call, int64_t me, int64_t count, const float *a0, const float *a1, const int64_t *a2, const int64_t *a3, float *y1, char *t0, char *t1) {
    const int64_t n_batch = call->size[0];
    double *const m22 = (double *)(t0 + me * dg_padded(24));
    double *const m15 = (double *)(t1 + me * dg_padded(8));
    const int64_t low = dg_share(n_batch, 1, me, count);
    const int64_t high = dg_share(n_batch, 1, me + 1, count);
    // tests/programs.py:33  loss = nn.softmax_cross_entropy(model(x, training=True), t)
    const float r16 = (-1.0f) / dg_to_float32(n_batch);
    const float r18 = 1.0f / dg_to_float32(n_batch);
    m15[0] = 0.0;
    for (int64_t i1 = 0; i1 < 3; i1++) {
        m22[i1] = 0.0;
    }
    for (int64_t i0 = low; i0 < high; i0++) {
        float f6 = (-INFINITY);
        {
            float s6 = (-INFINITY);
            int n6 = 0;
            #pragma omp simd reduction(max:s6) reduction(|:n6)
            for (int64_t i1 = 0; i1 < 3; i1++) {
                const float r0 = a0[i0 * 3 + i1];
                const float r1 = a1[i1];
                const float r5 = r0 + r1;
                s6 = r5 > s6 ? r5 : s6;
                n6 |= r5 != r5;
            }
            f6 = dg_maximum(f6, (n6 ? (float)NAN : s6));
        }
        const int64_t r2 = a2[i0];
        const float r6 = f6;
        double f9 = 0.0;
        double f13 = 0.0;
        {
            float s9 = 0.0f;
            float s13 = 0.0f;
            #pragma omp simd reduction(+:s9) reduction(+:s13)
            for (int64_t i1 = 0; i1 < 3; i1++) {
                const float r0 = a0[i0 * 3 + i1];
                const float r1 = a1[i1];
                const int64_t r3 = a3[i1];
                const float r5 = r0 + r1;
                const float r7 = r5 - r6;
                const float r8 = dg_exp(r7);
                y1[i0 * 3 + i1] = r8;
                s9 += r8;
                const dg_bool r11 = dg_equal(r2, r3);
                const float r12 = r11 ? r7 : 0.0f;
                s13 += r12;
            }
            f9 += s9;
            f13 += s13;
        }
        const float r9 = f9;
        const float r10 = dg_log(r9);
        const float r13 = f13;
        const float r14 = r10 - r13;
        m15[0] += r14;
        const float r19 = r18 / r9;
        #pragma omp simd
        for (int64_t i1 = 0; i1 < 3; i1++) {
            const int64_t r3 = a3[i1];
            const dg_bool r11 = dg_equal(r2, r3);
            const float r17 = r11 ? r16 : 0.0f;
            const float r20 = r19 * (y1[i0 * 3 + i1]);
            const float r21 = r17 + r20;
            y1[i0 * 3 + i1] = r21;
            m22[i1] += r21;
        }
    }
}

void k7_1(dg_call *call, int64_t me, int64_t count, const float *a1, const float *a4, float *y0, float *y2, char *t0, char *t1) {
    const int64_t n_batch = call->size[0];
    double *const m22 = (double *)(t0 + me * dg_padded(24));
    double *const m15 = (double *)(t1 + me * dg_padded(8));
    if (me) return;
    for (int64_t other = 1; other < count; other++) {
        const double *const part = (const double *)(t1 + other * dg_padded(8));
        m15[0] += part[0];
    }
    for (int64_t other = 1; other < count; other++) {
        const double *const part = (const double *)(t0 + other * dg_padded(24));
        for (int64_t i1 = 0; i1 < 3; i1++) {
            m22[i1] += part[i1];
        }
    }
    // tests/programs.py:33  loss = nn.softmax_cross_entropy(model(x, training=True), t)
    const float r15 = m15[0];
    const float r23 = r15 / dg_to_float32(n_batch);
    y0[0] = r23;
    const float r4 = a4[0];
    #pragma omp simd
    for (int64_t i1 = 0; i1 < 3; i1++) {
        const float r1 = a1[i1];
        const float r22 = m22[i1];
        // tests/programs.py:34  return {"loss": loss}, optim.SGD(lr=0.1).updates(loss, model.parameters)
        const float r24 = r4 * r22;
        const float r25 = r1 - r24;
        y2[i1] = r25;
    }
}

// matmul: 4 tests/programs.py:33  loss = nn.softmax_cross_entropy(model(x, training=True), t)
// call over (batch, 64)
void k8(dg_call *call, int64_t me, int64_t count, const float *a0, const float *a1, float *restrict y0) {
    const int64_t n_batch = call->size[0];
    dg_matmul_float32(call, me, count, n_batch, 64, 3, a0, 3, 1, a1, 1, 3, y0, 1, n_batch);
}

// matmul_multiply_subtract: SGD.4.weight tests/programs.py:34  return {"loss": loss}, optim.SGD(lr=0.1).updates(loss, model.parameters)
// call over (64, 3)
void k9_slice(const float *a0, const float *a1, const float *a2, float *y0, int64_t top, int64_t bottom, int64_t left, int64_t right, int64_t n_tile) {
    const float r0 = a0[0];
    for (int64_t i0 = top; i0 < bottom; i0++) {
        #pragma omp simd
        for (int64_t i1 = left; i1 < right; i1++) {
            const float r1 = a1[i0 * 3 + i1];
            const float r2 = a2[i0 * n_tile + i1];
            // tests/programs.py:34  return {"loss": loss}, optim.SGD(lr=0.1).updates(loss, model.parameters)
            const float r3 = r0 * r2;
            const float r4 = r1 - r3;
            y0[i0 * 3 + i1] = r4;
        }
    }
}

void k9(dg_call *call, int64_t me, int64_t count, const float *a0, const float *a1, const float *a2, const float *a3, float *y0) {
    const int64_t n_batch = call->size[0];
    _Alignas(64) float tile[DG_TILE / sizeof(float)];
    const dg_slice s = dg_slice_of(64, 3, sizeof *tile, me, count);
    for (int64_t top = s.r0; top < s.r1; top += s.high) {
        for (int64_t left = s.c0; left < s.c1; left += s.wide) {
            const int64_t bottom = dg_min(top + s.high, s.r1);
            const int64_t right = dg_min(left + s.wide, s.c1), n_tile = right - left;
            dg_multiply_float32(call, bottom - top, n_tile, n_batch, a0 + top * n_batch, n_batch, 1, a1 + left, 3, 1, tile, n_tile, 1);
            k9_slice(a2, a3, tile - top * n_tile - left, y0, top, bottom, left, right, n_tile);
        }
    }
}

// max_pool2d_grad: 2 tests/programs.py:33  loss = nn.softmax_cross_entropy(model(x, training=True), t)
// call over (batch, 4, 8, 8)
void k10(dg_call *call, int64_t me, int64_t count, const float *a0, const float *a1, const float *a2, float *restrict y0) {
    const int64_t n_batch = call->size[0];
    const int64_t low0 = dg_share(n_batch, 16, me, count);
    const int64_t high0 = dg_share(n_batch, 16, me + 1, count);
    for (int64_t i1 = 0; i1 < 4; i1++) {
        for (int64_t i2 = 0; i2 < 4; i2++) {
            for (int64_t i3 = 0; i3 < 4; i3++) {
                #pragma omp simd
                for (int64_t i0 = low0; i0 < high0; i0++) {
                    float share = 0;
                    share += a1[i0 + i1 * (n_batch*64) + (i2 * 2) * (n_batch*8) + (i3 * 2) * n_batch] == a2[i0 + i1 * (n_batch*16) + i2 * (n_batch*4) + i3 * n_batch];
                    share += a1[i0 + i1 * (n_batch*64) + (i2 * 2) * (n_batch*8) + (i3 * 2 + 1) * n_batch] == a2[i0 + i1 * (n_batch*16) + i2 * (n_batch*4) + i3 * n_batch];
                    share += a1[i0 + i1 * (n_batch*64) + (i2 * 2 + 1) * (n_batch*8) + (i3 * 2) * n_batch] == a2[i0 + i1 * (n_batch*16) + i2 * (n_batch*4) + i3 * n_batch];
                    share += a1[i0 + i1 * (n_batch*64) + (i2 * 2 + 1) * (n_batch*8) + (i3 * 2 + 1) * n_batch] == a2[i0 + i1 * (n_batch*16) + i2 * (n_batch*4) + i3 * n_batch];
                    share = a0[i0 + i1 * (n_batch*16) + i2 * (n_batch*4) + i3 * n_batch] / share;
                    y0[i0 + i1 * (n_batch*64) + (i2 * 2) * (n_batch*8) + (i3 * 2) * n_batch] = a1[i0 + i1 * (n_batch*64) + (i2 * 2) * (n_batch*8) + (i3 * 2) * n_batch] == a2[i0 + i1 * (n_batch*16) + i2 * (n_batch*4) + i3 * n_batch] ? share : 0;
                    y0[i0 + i1 * (n_batch*64) + (i2 * 2) * (n_batch*8) + (i3 * 2 + 1) * n_batch] = a1[i0 + i1 * (n_batch*64) + (i2 * 2) * (n_batch*8) + (i3 * 2 + 1) * n_batch] == a2[i0 + i1 * (n_batch*16) + i2 * (n_batch*4) + i3 * n_batch] ? share : 0;
                    y0[i0 + i1 * (n_batch*64) + (i2 * 2 + 1) * (n_batch*8) + (i3 * 2) * n_batch] = a1[i0 + i1 * (n_batch*64) + (i2 * 2 + 1) * (n_batch*8) + (i3 * 2) * n_batch] == a2[i0 + i1 * (n_batch*16) + i2 * (n_batch*4) + i3 * n_batch] ? share : 0;
                    y0[i0 + i1 * (n_batch*64) + (i2 * 2 + 1) * (n_batch*8) + (i3 * 2 + 1) * n_batch] = a1[i0 + i1 * (n_batch*64) + (i2 * 2 + 1) * (n_batch*8) + (i3 * 2 + 1) * n_batch] == a2[i0 + i1 * (n_batch*16) + i2 * (n_batch*4) + i3 * n_batch] ? share : 0;
                }
            }
        }
    }
}

// greater_where_sum_subtract: SGD.0.bias tests/programs.py:34  return {"loss": loss}, optim.SGD(lr=0.1).updates(loss, model.parameters)
// row over (4, batch*64)
void k11(dg_call *call, int64_t me, int64_t count, const float *a0, const float *a1, const float *a2, const float *a3, float *y0, float *y1) {
    const int64_t n_batch = call->size[0];
    const int64_t low = dg_share(4, 1, me, count);
    const int64_t high = dg_share(4, 1, me + 1, count);
    const float r2 = a2[0];
    for (int64_t i0 = low; i0 < high; i0++) {
        double f6 = 0.0;
        for (int64_t s = 0; s < n_batch*64; s += 4096) {
            const int64_t e = dg_min(s + 4096, n_batch*64);
            float s6_of[DG_LANES];
            for (int64_t l = 0; l < DG_LANES; l++) {
                s6_of[l] = 0.0f;
            }
            DG_BY_LANES(i1, s, e, {
                float s6 = s6_of[l];
                const float r0 = a0[i0 * (n_batch*64) + i1];
                const float r1 = a1[i0 * (n_batch*64) + i1];
                // tests/programs.py:33  loss = nn.softmax_cross_entropy(model(x, training=True), t)
                const dg_bool r4 = dg_greater(r0, 0.0f);
                const float r5 = r4 ? r1 : 0.0f;
                y0[i0 * (n_batch*64) + i1] = r5;
                s6 += r5;
                s6_of[l] = s6;
            })
            DG_JOIN_LANES({
                s6_of[l] += s6_of[half + l];
            })
            const float s6 = s6_of[0];
            f6 += s6;
        }
        const float r3 = a3[i0];
        const float r6 = f6;
        // tests/programs.py:34  return {"loss": loss}, optim.SGD(lr=0.1).updates(loss, model.parameters)
        const float r7 = r2 * r6;
        const float r8 = r3 - r7;
        y1[i0] = r8;
    }
}

// conv2d_weight_grad: 0 tests/programs.py:33  loss = nn.softmax_cross_entropy(model(x, training=True), t)
// call over (4, 1, 3, 3)
void k12(dg_call *call, int64_t me, int64_t count, const float *a0, const float *a1, float *restrict y0, char *t0, char *t1) {
    const int64_t n_batch = call->size[0];
    const dg_windows how = {
        .images = n_batch, .groups = 1, .in = 1, .out = 4,
        .row = {.inputs = 8, .results = 8, .places = 3, .up = 1, .down = 1, .hole = 1, .shift = -1},
        .column = {.inputs = 8, .results = 8, .places = 3, .up = 1, .down = 1, .hole = 1, .shift = -1},
    };
    dg_convolve_weights_float32(DG_EVEN(4, DG_OUT_OF_PAIRS), DG_EVEN(3, DG_PLACES_OF_PAIRS), me, count, how, a0, a1, y0, (float *)(t0 + me * dg_padded(n_batch*132 + 16448)), (float *)(t1 + me * dg_padded(2048)));
}

// multiply_subtract: SGD.0.weight tests/programs.py:34  return {"loss": loss}, optim.SGD(lr=0.1).updates(loss, model.parameters)
// map over (36,)
void k13(int64_t me, int64_t count, const float *a0, const float *a1, const float *a2, float *y0, int64_t n) {
    const int64_t low = dg_share(n, 64, me, count);
    const int64_t high = dg_share(n, 64, me + 1, count);
    const float r0 = a0[0];
    #pragma omp simd
    for (int64_t i0 = low; i0 < high; i0++) {
        const float r1 = a1[i0];
        const float r2 = a2[i0];
        // tests/programs.py:34  return {"loss": loss}, optim.SGD(lr=0.1).updates(loss, model.parameters)
        const float r3 = r0 * r1;
        const float r4 = r2 - r3;
        y0[i0] = r4;
    }
}

static void run0(dg_call *call, int stage, int me, int count) {
    const int64_t n_batch = call->size[0];
    switch (stage) {
        case 0: {
            const int few = n_batch*17 < 262144 ? 1 : count;
            if (me >= few) return;
            // check_index: softmax_cross_entropy tests/programs.py:33  loss = nn.softmax_cross_entropy(model(x, training=True), t)
            k0(call, me, few, (const int64_t *)call->at[1]);
            return;
        }
        case 1: {
            const int few = n_batch*17 < 262144 ? 1 : count;
            if (me >= few) return;
            k0_1(call, me, few, (const int64_t *)call->at[1], (int64_t *)call->at[10]);
            return;
        }
        case 2: {
            if (me >= 1) return;
            // add: SGD tests/programs.py:34  return {"loss": loss}, optim.SGD(lr=0.1).updates(loss, model.parameters)
            k1(me, (const int64_t *)call->at[7], (int64_t *)call->at[7]);
            return;
        }
        case 3: {
            const int few = n_batch*512 < 262144 ? 1 : count;
            if (me >= few) return;
            // copy: tests/programs.py:28  x = dg.placeholder("x", ("batch", 1, 8, 8))
            k2(call, me, few, (const float *)call->at[0], (float *)call->at[11]);
            return;
        }
        case 4: {
            const int few = n_batch*5888 + 144 < 262144 ? 1 : count;
            if (me >= few) return;
            // conv2d: 0 tests/programs.py:33  loss = nn.softmax_cross_entropy(model(x, training=True), t)
            k3(call, me, few, (const float *)call->at[11], (const float *)call->at[3], (float *)call->at[12], call->at[13]);
            return;
        }
        case 5: {
            const int few = n_batch*2560 + 16 < 262144 ? 1 : count;
            if (me >= few) return;
            // add_relu: tests/programs.py:33  loss = nn.softmax_cross_entropy(model(x, training=True), t)
            k4(call, me, few, (const float *)call->at[12], (const float *)call->at[4], (float *)call->at[12]);
            return;
        }
        case 6: {
            const int few = n_batch*1536 < 262144 ? 1 : count;
            if (me >= few) return;
            // max_pool2d: 2 tests/programs.py:33  loss = nn.softmax_cross_entropy(model(x, training=True), t)
            k5(call, me, few, (const float *)call->at[12], (float *)call->at[14]);
            return;
        }
        case 7: {
            const int few = n_batch*652 + 768 < 262144 ? 1 : count;
            if (me >= few) return;
            // matmul: 4 tests/programs.py:33  loss = nn.softmax_cross_entropy(model(x, training=True), t)
            k6(call, me, few, (const float *)call->at[14], (const float *)call->at[5], (float *)call->at[15]);
            return;
        }
        case 8: {
            const int few = n_batch*108 + 65 < 262144 ? 1 : count;
            if (me >= few) return;
            // add_max_subtract_multiply: SGD.4.bias tests/programs.py:34  return {"loss": loss}, optim.SGD(lr=0.1).updates(loss, model.parameters)
            k7(call, me, few, (const float *)call->at[15], (const float *)call->at[6], (const int64_t *)call->at[10], (const int64_t *)call->at[9], (float *)call->at[16], call->at[18], call->at[19]);
            return;
        }
        case 9: {
            const int few = n_batch*108 + 65 < 262144 ? 1 : count;
            if (me >= few) return;
            k7_1(call, me, few, (const float *)call->at[6], (const float *)call->at[8], (float *)call->at[2], (float *)call->at[17], call->at[18], call->at[19]);
            return;
        }
        case 10: {
            const int few = n_batch*652 + 768 < 262144 ? 1 : count;
            if (me >= few) return;
            // matmul: 4 tests/programs.py:33  loss = nn.softmax_cross_entropy(model(x, training=True), t)
            k8(call, me, few, (const float *)call->at[16], (const float *)call->at[5], (float *)call->at[20]);
            return;
        }
        case 11: {
            const int few = n_batch*652 + 1924 < 262144 ? 1 : count;
            if (me >= few) return;
            // matmul_multiply_subtract: SGD.4.weight tests/programs.py:34  return {"loss": loss}, optim.SGD(lr=0.1).updates(loss, model.parameters)
            k9(call, me, few, (const float *)call->at[14], (const float *)call->at[16], (const float *)call->at[8], (const float *)call->at[5], (float *)call->at[5]);
            return;
        }
        case 12: {
            const int few = n_batch*3328 < 262144 ? 1 : count;
            if (me >= few) return;
            // max_pool2d_grad: 2 tests/programs.py:33  loss = nn.softmax_cross_entropy(model(x, training=True), t)
            k10(call, me, few, (const float *)call->at[20], (const float *)call->at[12], (const float *)call->at[14], (float *)call->at[21]);
            return;
        }
        case 13: {
            const int few = n_batch*3840 + 44 < 262144 ? 1 : count;
            if (me >= few) return;
            // greater_where_sum_subtract: SGD.0.bias tests/programs.py:34  return {"loss": loss}, optim.SGD(lr=0.1).updates(loss, model.parameters)
            k11(call, me, few, (const float *)call->at[12], (const float *)call->at[21], (const float *)call->at[8], (const float *)call->at[4], (float *)call->at[12], (float *)call->at[4]);
            return;
        }
        case 14: {
            const int few = n_batch*5888 + 144 < 262144 ? 1 : count;
            if (me >= few) return;
            // conv2d_weight_grad: 0 tests/programs.py:33  loss = nn.softmax_cross_entropy(model(x, training=True), t)
            k12(call, me, few, (const float *)call->at[11], (const float *)call->at[12], (float *)call->at[22], call->at[23], call->at[24]);
            return;
        }
        case 15: {
            if (me >= 1) return;
            // multiply_subtract: SGD.0.weight tests/programs.py:34  return {"loss": loss}, optim.SGD(lr=0.1).updates(loss, model.parameters)
            k13(me, 1, (const float *)call->at[8], (const float *)call->at[22], (const float *)call->at[3], (float *)call->at[3], 36);
            return;
        }
    }
}
const dg_part part0 = {16, run0};

p0_weight, p0_bias, p4_weight, p4_bias, iteration, lr, = parameters
c0, = constants
v0 = slot(7, (3,), 'float32')


def step(x, t, out_loss):
    bad = part0(x, t, out_loss)
    # check_index: softmax_cross_entropy tests/programs.py:33  loss = nn.softmax_cross_entropy(model(x, training=True), t)
    if bad and bad[0] == 0: raise lib.bad_value(bad[1], bad[2], 'target')
    # add: SGD tests/programs.py:34  return {"loss": loss}, optim.SGD(lr=0.1).updates(loss, model.parameters)
    # copy: tests/programs.py:28  x = dg.placeholder("x", ("batch", 1, 8, 8))
    # conv2d: 0 tests/programs.py:33  loss = nn.softmax_cross_entropy(model(x, training=True), t)
    # add_relu: tests/programs.py:33  loss = nn.softmax_cross_entropy(model(x, training=True), t)
    # max_pool2d: 2 tests/programs.py:33  loss = nn.softmax_cross_entropy(model(x, training=True), t)
    # matmul: 4 tests/programs.py:33  loss = nn.softmax_cross_entropy(model(x, training=True), t)
    # add_max_subtract_multiply: SGD.4.bias tests/programs.py:34  return {"loss": loss}, optim.SGD(lr=0.1).updates(loss, model.parameters)
    # matmul: 4 tests/programs.py:33  loss = nn.softmax_cross_entropy(model(x, training=True), t)
    # matmul_multiply_subtract: SGD.4.weight tests/programs.py:34  return {"loss": loss}, optim.SGD(lr=0.1).updates(loss, model.parameters)
    # max_pool2d_grad: 2 tests/programs.py:33  loss = nn.softmax_cross_entropy(model(x, training=True), t)
    # greater_where_sum_subtract: SGD.0.bias tests/programs.py:34  return {"loss": loss}, optim.SGD(lr=0.1).updates(loss, model.parameters)
    # conv2d_weight_grad: 0 tests/programs.py:33  loss = nn.softmax_cross_entropy(model(x, training=True), t)
    # multiply_subtract: SGD.0.weight tests/programs.py:34  return {"loss": loss}, optim.SGD(lr=0.1).updates(loss, model.parameters)
    # new values
    np.copyto(p4_bias, v0)
