#include "loops.h"
#include "indexing.h"
#include "matmul.h"

// check_index: softmax_cross_entropy tests/programs.py:21  loss = nn.softmax_cross_entropy(model(x, training=True), t)
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

// add: SGD tests/programs.py:23  return {"loss": loss}, opt.updates(loss, model.parameters)
// map over ()
void k1(int64_t me, const int64_t *a0, int64_t *y0) {
    if (me) return;
    const int64_t r0 = a0[0];
    // tests/programs.py:23  return {"loss": loss}, opt.updates(loss, model.parameters)
    const int64_t r1 = r0 + INT64_C(1);
    y0[0] = r1;
}

// matmul_add_relu: tests/programs.py:21  loss = nn.softmax_cross_entropy(model(x, training=True), t)
// call over (batch, 6)
void k2_slice(const float *a0, const float *a1, float *y0, int64_t top, int64_t bottom, int64_t left, int64_t right, int64_t n_tile) {
    for (int64_t i0 = top; i0 < bottom; i0++) {
        #pragma omp simd
        for (int64_t i1 = left; i1 < right; i1++) {
            const float r0 = a0[i1];
            const float r1 = a1[i0 * n_tile + i1];
            // tests/programs.py:21  loss = nn.softmax_cross_entropy(model(x, training=True), t)
            const float r2 = r1 + r0;
            const float r3 = dg_relu(r2);
            y0[i0 * 6 + i1] = r3;
        }
    }
}

void k2(dg_call *call, int64_t me, int64_t count, const float *a0, const float *a1, const float *a2, float *y0) {
    const int64_t n_batch = call->size[0];
    _Alignas(64) float tile[DG_TILE / sizeof(float)];
    const dg_slice s = dg_slice_of(n_batch, 6, sizeof *tile, me, count);
    for (int64_t top = s.r0; top < s.r1; top += s.high) {
        for (int64_t left = s.c0; left < s.c1; left += s.wide) {
            const int64_t bottom = dg_min(top + s.high, s.r1);
            const int64_t right = dg_min(left + s.wide, s.c1), n_tile = right - left;
            dg_multiply_float32(call, bottom - top, n_tile, 8, a0 + top * 8, 8, 1, a1 + left, 6, 1, tile, n_tile, 1);
            k2_slice(a2, tile - top * n_tile - left, y0, top, bottom, left, right, n_tile);
        }
    }
}

// matmul: 2 tests/programs.py:21  loss = nn.softmax_cross_entropy(model(x, training=True), t)
// call over (batch, 3)
void k3(dg_call *call, int64_t me, int64_t count, const float *a0, const float *a1, float *restrict y0) {
    const int64_t n_batch = call->size[0];
    dg_matmul_float32(call, me, count, n_batch, 3, 6, a0, 6, 1, a1, 3, 1, y0, 3, 1);
}

// add_max_subtract_multiply: SGD.2.bias tests/programs.py:23  return {"loss": loss}, opt.updates(loss, model.parameters)
// row over (batch, 3)
void k4(dg_call *call, int64_t me, int64_t count, const float *a0, const float *a1, const int64_t *a2, const int64_t *a3, float *y1, char *t0, char *t1) {
    const int64_t n_batch = call->size[0];
    double *const m24 = (double *)(t0 + me * dg_padded(24));
    double *const m16 = (double *)(t1 + me * dg_padded(8));
    const int64_t low = dg_share(n_batch, 1, me, count);
    const int64_t high = dg_share(n_batch, 1, me + 1, count);
    // tests/programs.py:21  loss = nn.softmax_cross_entropy(model(x, training=True), t)
    const float r17 = (-1.0f) / dg_to_float32(n_batch);
    const float r19 = 1.0f / dg_to_float32(n_batch);
    m16[0] = 0.0;
    for (int64_t i1 = 0; i1 < 3; i1++) {
        m24[i1] = 0.0;
    }
    for (int64_t i0 = low; i0 < high; i0++) {
        float f7 = (-INFINITY);
        {
            float s7 = (-INFINITY);
            int n7 = 0;
            #pragma omp simd reduction(max:s7) reduction(|:n7)
            for (int64_t i1 = 0; i1 < 3; i1++) {
                const float r0 = a0[i0 * 3 + i1];
                const float r1 = a1[i1];
                const float r6 = r0 + r1;
                s7 = r6 > s7 ? r6 : s7;
                n7 |= r6 != r6;
            }
            f7 = dg_maximum(f7, (n7 ? (float)NAN : s7));
        }
        const int64_t r2 = a2[i0];
        const float r7 = f7;
        double f10 = 0.0;
        double f14 = 0.0;
        {
            float s10 = 0.0f;
            float s14 = 0.0f;
            #pragma omp simd reduction(+:s10) reduction(+:s14)
            for (int64_t i1 = 0; i1 < 3; i1++) {
                const float r0 = a0[i0 * 3 + i1];
                const float r1 = a1[i1];
                const int64_t r3 = a3[i1];
                const float r6 = r0 + r1;
                const float r8 = r6 - r7;
                const float r9 = dg_exp(r8);
                y1[i0 * 3 + i1] = r9;
                s10 += r9;
                const dg_bool r12 = dg_equal(r2, r3);
                const float r13 = r12 ? r8 : 0.0f;
                s14 += r13;
            }
            f10 += s10;
            f14 += s14;
        }
        const float r10 = f10;
        const float r11 = dg_log(r10);
        const float r14 = f14;
        const float r15 = r11 - r14;
        m16[0] += r15;
        const float r20 = r19 / r10;
        #pragma omp simd
        for (int64_t i1 = 0; i1 < 3; i1++) {
            const int64_t r3 = a3[i1];
            const dg_bool r12 = dg_equal(r2, r3);
            const float r18 = r12 ? r17 : 0.0f;
            const float r21 = r20 * (y1[i0 * 3 + i1]);
            const float r22 = r18 + r21;
            y1[i0 * 3 + i1] = r22;
            m24[i1] += r22;
        }
    }
}

void k4_1(dg_call *call, int64_t me, int64_t count, const float *a1, const float *a4, const float *a5, float *y0, float *y2, float *y3, char *t0, char *t1) {
    const int64_t n_batch = call->size[0];
    double *const m24 = (double *)(t0 + me * dg_padded(24));
    double *const m16 = (double *)(t1 + me * dg_padded(8));
    if (me) return;
    for (int64_t other = 1; other < count; other++) {
        const double *const part = (const double *)(t1 + other * dg_padded(8));
        m16[0] += part[0];
    }
    for (int64_t other = 1; other < count; other++) {
        const double *const part = (const double *)(t0 + other * dg_padded(24));
        for (int64_t i1 = 0; i1 < 3; i1++) {
            m24[i1] += part[i1];
        }
    }
    // tests/programs.py:21  loss = nn.softmax_cross_entropy(model(x, training=True), t)
    const float r16 = m16[0];
    const float r25 = r16 / dg_to_float32(n_batch);
    y0[0] = r25;
    const float r5 = a5[0];
    #pragma omp simd
    for (int64_t i1 = 0; i1 < 3; i1++) {
        const float r1 = a1[i1];
        const float r4 = a4[i1];
        // tests/programs.py:23  return {"loss": loss}, opt.updates(loss, model.parameters)
        const float r23 = 0.9f * r4;
        // tests/programs.py:21  loss = nn.softmax_cross_entropy(model(x, training=True), t)
        const float r24 = m24[i1];
        // tests/programs.py:23  return {"loss": loss}, opt.updates(loss, model.parameters)
        const float r26 = r23 + r24;
        y2[i1] = r26;
        const float r27 = r5 * r26;
        const float r28 = r1 - r27;
        y3[i1] = r28;
    }
}

// matmul: 2 tests/programs.py:21  loss = nn.softmax_cross_entropy(model(x, training=True), t)
// call over (batch, 6)
void k5(dg_call *call, int64_t me, int64_t count, const float *a0, const float *a1, float *restrict y0) {
    const int64_t n_batch = call->size[0];
    dg_matmul_float32(call, me, count, n_batch, 6, 3, a0, 3, 1, a1, 1, 3, y0, 6, 1);
}

// matmul_multiply_add_subtract: SGD.2.weight tests/programs.py:23  return {"loss": loss}, opt.updates(loss, model.parameters)
// call over (6, 3)
void k6_slice(const float *a0, const float *a1, const float *a2, const float *a3, float *y0, float *y1, int64_t top, int64_t bottom, int64_t left, int64_t right, int64_t n_tile) {
    const float r1 = a1[0];
    for (int64_t i0 = top; i0 < bottom; i0++) {
        #pragma omp simd
        for (int64_t i1 = left; i1 < right; i1++) {
            const float r0 = a0[i0 * 3 + i1];
            const float r2 = a2[i0 * 3 + i1];
            const float r3 = a3[i0 * n_tile + i1];
            // tests/programs.py:23  return {"loss": loss}, opt.updates(loss, model.parameters)
            const float r4 = 0.9f * r0;
            const float r5 = r4 + r3;
            y0[i0 * 3 + i1] = r5;
            const float r6 = r1 * r5;
            const float r7 = r2 - r6;
            y1[i0 * 3 + i1] = r7;
        }
    }
}

void k6(dg_call *call, int64_t me, int64_t count, const float *a0, const float *a1, const float *a2, const float *a3, const float *a4, float *y0, float *y1) {
    const int64_t n_batch = call->size[0];
    _Alignas(64) float tile[DG_TILE / sizeof(float)];
    const dg_slice s = dg_slice_of(6, 3, sizeof *tile, me, count);
    for (int64_t top = s.r0; top < s.r1; top += s.high) {
        for (int64_t left = s.c0; left < s.c1; left += s.wide) {
            const int64_t bottom = dg_min(top + s.high, s.r1);
            const int64_t right = dg_min(left + s.wide, s.c1), n_tile = right - left;
            dg_multiply_float32(call, bottom - top, n_tile, n_batch, a0 + top, 1, 6, a1 + left, 3, 1, tile, n_tile, 1);
            k6_slice(a2, a3, a4, tile - top * n_tile - left, y0, y1, top, bottom, left, right, n_tile);
        }
    }
}

// greater_where_multiply_subtract: SGD.0.bias tests/programs.py:23  return {"loss": loss}, opt.updates(loss, model.parameters)
// row over (batch, 6)
void k7(dg_call *call, int64_t me, int64_t count, const float *a0, const float *a1, const float *a2, const float *a3, const float *a4, float *y0, float *y1, float *y2) {
    const int64_t n_batch = call->size[0];
    double m8[256];
    const int64_t low = dg_share(6, 64, me, count);
    const int64_t high = dg_share(6, 64, me + 1, count);
    const float r3 = a3[0];
    for (int64_t s = low; s < high; s += 256) {
        const int64_t e = dg_min(s + 256, high);
        for (int64_t i1 = s; i1 < e; i1++) {
            m8[(i1 - s)] = 0.0;
        }
        for (int64_t i0 = 0; i0 < n_batch; i0++) {
            #pragma omp simd
            for (int64_t i1 = s; i1 < e; i1++) {
                const float r0 = a0[i0 * 6 + i1];
                const float r1 = a1[i0 * 6 + i1];
                // tests/programs.py:21  loss = nn.softmax_cross_entropy(model(x, training=True), t)
                const dg_bool r5 = dg_greater(r0, 0.0f);
                const float r6 = r5 ? r1 : 0.0f;
                y0[i0 * 6 + i1] = r6;
                m8[(i1 - s)] += r6;
            }
        }
        #pragma omp simd
        for (int64_t i1 = s; i1 < e; i1++) {
            const float r2 = a2[i1];
            const float r4 = a4[i1];
            // tests/programs.py:23  return {"loss": loss}, opt.updates(loss, model.parameters)
            const float r7 = 0.9f * r2;
            // tests/programs.py:21  loss = nn.softmax_cross_entropy(model(x, training=True), t)
            const float r8 = m8[(i1 - s)];
            // tests/programs.py:23  return {"loss": loss}, opt.updates(loss, model.parameters)
            const float r9 = r7 + r8;
            y1[i1] = r9;
            const float r10 = r3 * r9;
            const float r11 = r4 - r10;
            y2[i1] = r11;
        }
    }
}

// matmul_multiply_add_subtract: SGD.0.weight tests/programs.py:23  return {"loss": loss}, opt.updates(loss, model.parameters)
// call over (8, 6)
void k8_slice(const float *a0, const float *a1, const float *a2, const float *a3, float *y0, float *y1, int64_t top, int64_t bottom, int64_t left, int64_t right, int64_t n_tile) {
    const float r1 = a1[0];
    for (int64_t i0 = top; i0 < bottom; i0++) {
        #pragma omp simd
        for (int64_t i1 = left; i1 < right; i1++) {
            const float r0 = a0[i0 * 6 + i1];
            const float r2 = a2[i0 * 6 + i1];
            const float r3 = a3[i0 * n_tile + i1];
            // tests/programs.py:23  return {"loss": loss}, opt.updates(loss, model.parameters)
            const float r4 = 0.9f * r0;
            const float r5 = r4 + r3;
            y0[i0 * 6 + i1] = r5;
            const float r6 = r1 * r5;
            const float r7 = r2 - r6;
            y1[i0 * 6 + i1] = r7;
        }
    }
}

void k8(dg_call *call, int64_t me, int64_t count, const float *a0, const float *a1, const float *a2, const float *a3, const float *a4, float *y0, float *y1) {
    const int64_t n_batch = call->size[0];
    _Alignas(64) float tile[DG_TILE / sizeof(float)];
    const dg_slice s = dg_slice_of(8, 6, sizeof *tile, me, count);
    for (int64_t top = s.r0; top < s.r1; top += s.high) {
        for (int64_t left = s.c0; left < s.c1; left += s.wide) {
            const int64_t bottom = dg_min(top + s.high, s.r1);
            const int64_t right = dg_min(left + s.wide, s.c1), n_tile = right - left;
            dg_multiply_float32(call, bottom - top, n_tile, n_batch, a0 + top, 1, 8, a1 + left, 6, 1, tile, n_tile, 1);
            k8_slice(a2, a3, a4, tile - top * n_tile - left, y0, y1, top, bottom, left, right, n_tile);
        }
    }
}

static void run0(dg_call *call, int stage, int me, int count) {
    const int64_t n_batch = call->size[0];
    switch (stage) {
        case 0: {
            const int few = n_batch*17 < 262144 ? 1 : count;
            if (me >= few) return;
            // check_index: softmax_cross_entropy tests/programs.py:21  loss = nn.softmax_cross_entropy(model(x, training=True), t)
            k0(call, me, few, (const int64_t *)call->at[1]);
            return;
        }
        case 1: {
            const int few = n_batch*17 < 262144 ? 1 : count;
            if (me >= few) return;
            k0_1(call, me, few, (const int64_t *)call->at[1], (int64_t *)call->at[14]);
            return;
        }
        case 2: {
            if (me >= 1) return;
            // add: SGD tests/programs.py:23  return {"loss": loss}, opt.updates(loss, model.parameters)
            k1(me, (const int64_t *)call->at[7], (int64_t *)call->at[7]);
            return;
        }
        case 3: {
            const int few = n_batch*164 + 216 < 262144 ? 1 : count;
            if (me >= few) return;
            // matmul_add_relu: tests/programs.py:21  loss = nn.softmax_cross_entropy(model(x, training=True), t)
            k2(call, me, few, (const float *)call->at[0], (const float *)call->at[3], (const float *)call->at[4], (float *)call->at[15]);
            return;
        }
        case 4: {
            const int few = n_batch*72 + 72 < 262144 ? 1 : count;
            if (me >= few) return;
            // matmul: 2 tests/programs.py:21  loss = nn.softmax_cross_entropy(model(x, training=True), t)
            k3(call, me, few, (const float *)call->at[15], (const float *)call->at[5], (float *)call->at[16]);
            return;
        }
        case 5: {
            const int few = n_batch*108 + 95 < 262144 ? 1 : count;
            if (me >= few) return;
            // add_max_subtract_multiply: SGD.2.bias tests/programs.py:23  return {"loss": loss}, opt.updates(loss, model.parameters)
            k4(call, me, few, (const float *)call->at[16], (const float *)call->at[6], (const int64_t *)call->at[14], (const int64_t *)call->at[13], (float *)call->at[17], call->at[19], call->at[20]);
            return;
        }
        case 6: {
            const int few = n_batch*108 + 95 < 262144 ? 1 : count;
            if (me >= few) return;
            k4_1(call, me, few, (const float *)call->at[6], (const float *)call->at[12], (const float *)call->at[9], (float *)call->at[2], (float *)call->at[12], (float *)call->at[18], call->at[19], call->at[20]);
            return;
        }
        case 7: {
            const int few = n_batch*72 + 72 < 262144 ? 1 : count;
            if (me >= few) return;
            // matmul: 2 tests/programs.py:21  loss = nn.softmax_cross_entropy(model(x, training=True), t)
            k5(call, me, few, (const float *)call->at[17], (const float *)call->at[5], (float *)call->at[21]);
            return;
        }
        case 8: {
            const int few = n_batch*72 + 364 < 262144 ? 1 : count;
            if (me >= few) return;
            // matmul_multiply_add_subtract: SGD.2.weight tests/programs.py:23  return {"loss": loss}, opt.updates(loss, model.parameters)
            k6(call, me, few, (const float *)call->at[15], (const float *)call->at[17], (const float *)call->at[11], (const float *)call->at[9], (const float *)call->at[5], (float *)call->at[11], (float *)call->at[5]);
            return;
        }
        case 9: {
            const int few = n_batch*90 + 124 < 262144 ? 1 : count;
            if (me >= few) return;
            // greater_where_multiply_subtract: SGD.0.bias tests/programs.py:23  return {"loss": loss}, opt.updates(loss, model.parameters)
            k7(call, me, few, (const float *)call->at[15], (const float *)call->at[21], (const float *)call->at[10], (const float *)call->at[9], (const float *)call->at[4], (float *)call->at[15], (float *)call->at[10], (float *)call->at[4]);
            return;
        }
        case 10: {
            const int few = n_batch*152 + 964 < 262144 ? 1 : count;
            if (me >= few) return;
            // matmul_multiply_add_subtract: SGD.0.weight tests/programs.py:23  return {"loss": loss}, opt.updates(loss, model.parameters)
            k8(call, me, few, (const float *)call->at[0], (const float *)call->at[15], (const float *)call->at[8], (const float *)call->at[9], (const float *)call->at[3], (float *)call->at[8], (float *)call->at[3]);
            return;
        }
    }
}
const dg_part part0 = {11, run0};

p0_weight, p0_bias, p2_weight, p2_bias, iteration, momentum_0_weight, lr, momentum_0_bias, momentum_2_weight, momentum_2_bias, = parameters
c0, = constants
v0 = slot(4, (3,), 'float32')


def step(x, t, out_loss):
    bad = part0(x, t, out_loss)
    # check_index: softmax_cross_entropy tests/programs.py:21  loss = nn.softmax_cross_entropy(model(x, training=True), t)
    if bad and bad[0] == 0: raise lib.bad_value(bad[1], bad[2], 'target')
    # add: SGD tests/programs.py:23  return {"loss": loss}, opt.updates(loss, model.parameters)
    # matmul_add_relu: tests/programs.py:21  loss = nn.softmax_cross_entropy(model(x, training=True), t)
    # matmul: 2 tests/programs.py:21  loss = nn.softmax_cross_entropy(model(x, training=True), t)
    # add_max_subtract_multiply: SGD.2.bias tests/programs.py:23  return {"loss": loss}, opt.updates(loss, model.parameters)
    # matmul: 2 tests/programs.py:21  loss = nn.softmax_cross_entropy(model(x, training=True), t)
    # matmul_multiply_add_subtract: SGD.2.weight tests/programs.py:23  return {"loss": loss}, opt.updates(loss, model.parameters)
    # greater_where_multiply_subtract: SGD.0.bias tests/programs.py:23  return {"loss": loss}, opt.updates(loss, model.parameters)
    # matmul_multiply_add_subtract: SGD.0.weight tests/programs.py:23  return {"loss": loss}, opt.updates(loss, model.parameters)
    # new values
    np.copyto(p2_bias, v0)
