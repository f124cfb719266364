// sum_divide_subtract_maximum: tests/programs.py:48  y = nn.layer_norm(x, weight, bias)
// row over (n, 5)
template <int V> DG_SCALAR void k0_of(const float *__restrict__ a0, const float *__restrict__ a1, const float *__restrict__ a2, float *__restrict__ y0, float *__restrict__ y1, float *__restrict__ y2, float *__restrict__ y3, const dg_index n_n) {
    __shared__ uint64_t shared[32];
    const dg_index place = (dg_index)blockIdx.x * blockDim.y + threadIdx.y;
    const bool lead = place < n_n && threadIdx.x == 0;
    const dg_index row = dg_least(place, n_n - 1);
    const dg_index i0 = row;
    float s3 = 0.0f;
    for (dg_index j = (dg_index)threadIdx.x * V; j < 5; j += blockDim.x * V) {
        const dg_index i1 = j;
        const dg_pack<float, V> p0 = dg_load<V>(a0 + (i0 * 5 + i1));
        #pragma unroll
        for (int v = 0; v < V; v++) {
            const float r0 = p0.at[v];
            s3 += r0;
        }
    }
    double f3 = 0.0;
    f3 += s3;
    f3 = dg_across_x(f3, [](double &into, double value) { into += value; }, shared);
    const float r3 = (float)f3;
    // tests/programs.py:48  y = nn.layer_norm(x, weight, bias)
    const float r4 = r3 / 5.0f;
    float s7 = 0.0f;
    for (dg_index j = (dg_index)threadIdx.x * V; j < 5; j += blockDim.x * V) {
        const dg_index i1 = j;
        const dg_pack<float, V> p0 = dg_load<V>(a0 + (i0 * 5 + i1));
        #pragma unroll
        for (int v = 0; v < V; v++) {
            const float r0 = p0.at[v];
            const float r5 = r0 - r4;
            const float r6 = r5 * r5;
            s7 += r6;
        }
    }
    double f7 = 0.0;
    f7 += s7;
    f7 = dg_across_x(f7, [](double &into, double value) { into += value; }, shared);
    const float r7 = (float)f7;
    const float r8 = r7 / 5.0f;
    const float r9 = r8 + 1e-05f;
    const float r10 = dg_sqrt(r9);
    const float r11 = 1.0f / r10;
    const float r26 = dg_maximum(r10, 1e-45f);
    float s22 = 0.0f;
    for (dg_index j = (dg_index)threadIdx.x * V; place <= row && j < 5; j += blockDim.x * V) {
        const dg_index i1 = j;
        const dg_pack<float, V> p0 = dg_load<V>(a0 + (i0 * 5 + i1));
        const dg_pack<float, V> p1 = dg_load<V>(a1 + i1);
        const dg_pack<float, V> p2 = dg_load<V>(a2 + i1);
        dg_pack<float, V> w0;
        dg_pack<float, V> w1;
        dg_pack<float, V> w2;
        #pragma unroll
        for (int v = 0; v < V; v++) {
            const float r0 = p0.at[v];
            const float r1 = p1.at[v];
            const float r2 = p2.at[v];
            const float r5 = r0 - r4;
            const float r12 = r5 * r11;
            const float r13 = r12 * r1;
            // tests/programs.py:48  y = nn.layer_norm(x, weight, bias); also tests/programs.py:49  dx, dw, db = dg.grad(dg.sum(y * dg.sin(y)), [x, weight, bias])
            const float r14 = r13 + r2;
            // tests/programs.py:49  dx, dw, db = dg.grad(dg.sum(y * dg.sin(y)), [x, weight, bias])
            const float r15 = dg_sin(r14);
            const float r16 = dg_cos(r14);
            const float r17 = r14 * r16;
            const float r18 = r15 + r17;
            // tests/programs.py:48  y = nn.layer_norm(x, weight, bias)
            const float r19 = r18 * r1;
            const float r21 = r19 * r5;
            s22 += r21;
            w0.at[v] = r12;
            w1.at[v] = r14;
            w2.at[v] = r18;
        }
        dg_save<V>(y0 + (i0 * 5 + i1), w0);
        dg_save<V>(y1 + (i0 * 5 + i1), w1);
        dg_save<V>(y2 + (i0 * 5 + i1), w2);
    }
    double f22 = 0.0;
    f22 += s22;
    f22 = dg_across_x(f22, [](double &into, double value) { into += value; }, shared);
    const float r22 = (float)f22;
    const float r23 = r22 / r10;
    const float r24 = r23 * r11;
    const float r25 = r24 * (-0.5f);
    const float r27 = r25 / r26;
    const float r28 = r27 / 2.5f;
    float s31 = 0.0f;
    for (dg_index j = (dg_index)threadIdx.x * V; j < 5; j += blockDim.x * V) {
        const dg_index i1 = j;
        const dg_pack<float, V> p0 = dg_load<V>(a0 + (i0 * 5 + i1));
        const dg_pack<float, V> p1 = dg_load<V>(a1 + i1);
        const dg_pack<float, V> p2 = dg_load<V>(a2 + i1);
        #pragma unroll
        for (int v = 0; v < V; v++) {
            const float r0 = p0.at[v];
            const float r1 = p1.at[v];
            const float r2 = p2.at[v];
            const float r5 = r0 - r4;
            const float r12 = r5 * r11;
            const float r13 = r12 * r1;
            // tests/programs.py:48  y = nn.layer_norm(x, weight, bias); also tests/programs.py:49  dx, dw, db = dg.grad(dg.sum(y * dg.sin(y)), [x, weight, bias])
            const float r14 = r13 + r2;
            // tests/programs.py:49  dx, dw, db = dg.grad(dg.sum(y * dg.sin(y)), [x, weight, bias])
            const float r15 = dg_sin(r14);
            const float r16 = dg_cos(r14);
            const float r17 = r14 * r16;
            const float r18 = r15 + r17;
            // tests/programs.py:48  y = nn.layer_norm(x, weight, bias)
            const float r19 = r18 * r1;
            const float r20 = r19 * r11;
            const float r29 = r28 * r5;
            const float r30 = r20 + r29;
            s31 += r30;
        }
    }
    double f31 = 0.0;
    f31 += s31;
    f31 = dg_across_x(f31, [](double &into, double value) { into += value; }, shared);
    const float r31 = (float)f31;
    const float r32 = r31 / (-5.0f);
    for (dg_index j = (dg_index)threadIdx.x * V; place <= row && j < 5; j += blockDim.x * V) {
        const dg_index i1 = j;
        const dg_pack<float, V> p0 = dg_load<V>(a0 + (i0 * 5 + i1));
        const dg_pack<float, V> p1 = dg_load<V>(a1 + i1);
        const dg_pack<float, V> p2 = dg_load<V>(a2 + i1);
        dg_pack<float, V> w3;
        #pragma unroll
        for (int v = 0; v < V; v++) {
            const float r0 = p0.at[v];
            const float r1 = p1.at[v];
            const float r2 = p2.at[v];
            const float r5 = r0 - r4;
            const float r12 = r5 * r11;
            const float r13 = r12 * r1;
            // tests/programs.py:48  y = nn.layer_norm(x, weight, bias); also tests/programs.py:49  dx, dw, db = dg.grad(dg.sum(y * dg.sin(y)), [x, weight, bias])
            const float r14 = r13 + r2;
            // tests/programs.py:49  dx, dw, db = dg.grad(dg.sum(y * dg.sin(y)), [x, weight, bias])
            const float r15 = dg_sin(r14);
            const float r16 = dg_cos(r14);
            const float r17 = r14 * r16;
            const float r18 = r15 + r17;
            // tests/programs.py:48  y = nn.layer_norm(x, weight, bias)
            const float r19 = r18 * r1;
            const float r20 = r19 * r11;
            const float r29 = r28 * r5;
            const float r30 = r20 + r29;
            const float r33 = r30 + r32;
            w3.at[v] = r33;
        }
        dg_save<V>(y3 + (i0 * 5 + i1), w3);
    }
}
extern "C" __global__ void __launch_bounds__(512) k0_v4(const float *__restrict__ a0, const float *__restrict__ a1, const float *__restrict__ a2, float *__restrict__ y0, float *__restrict__ y1, float *__restrict__ y2, float *__restrict__ y3, const dg_index n_n) {
    k0_of<4>(a0, a1, a2, y0, y1, y2, y3, n_n);
}
extern "C" __global__ void __launch_bounds__(512) k0_v1(const float *__restrict__ a0, const float *__restrict__ a1, const float *__restrict__ a2, float *__restrict__ y0, float *__restrict__ y1, float *__restrict__ y2, float *__restrict__ y3, const dg_index n_n) {
    k0_of<1>(a0, a1, a2, y0, y1, y2, y3, n_n);
}

// multiply_sum: tests/programs.py:48  y = nn.layer_norm(x, weight, bias)
// fold over (n, 5)
extern "C" __global__ void __launch_bounds__(512) k1(const float *__restrict__ a0, const float *__restrict__ a1, float *__restrict__ y0, const dg_index n_n) {
    __shared__ uint64_t shared[512];
    const dg_index place = (dg_index)blockIdx.x * blockDim.x + threadIdx.x;
    const bool lead = place < 5 && threadIdx.y == 0;
    const dg_index row = dg_least(place, 5 - 1);
    const dg_index i1 = row;
    float s3 = 0.0f;
    for (dg_index j = (dg_index)threadIdx.y; j < n_n; j += blockDim.y) {
        const dg_index i0 = j;
        const float r0 = a0[i0 * 5 + i1];
        const float r1 = a1[i0 * 5 + i1];
        // tests/programs.py:48  y = nn.layer_norm(x, weight, bias)
        const float r2 = r0 * r1;
        s3 += r2;
    }
    double f3 = 0.0;
    f3 += s3;
    f3 = dg_across_y(f3, [](double &into, double value) { into += value; }, shared);
    const float r3 = (float)f3;
    if (lead) y0[i1] = r3;
}

extern "C" __global__ void __launch_bounds__(512) k1_part(const float *__restrict__ a0, const float *__restrict__ a1, double *t0, const dg_index n_n) {
    __shared__ uint64_t shared[512];
    const dg_index place = (dg_index)blockIdx.x * blockDim.x + threadIdx.x;
    const bool lead = place < 5 && threadIdx.y == 0;
    const dg_index row = dg_least(place, 5 - 1);
    const dg_index i1 = row;
    const dg_index low = dg_stretch(n_n, 1, blockIdx.y);
    const dg_index high = dg_stretch(n_n, 1, blockIdx.y + 1);
    float s3 = 0.0f;
    for (dg_index j = low + (dg_index)threadIdx.y; j < high; j += blockDim.y) {
        const dg_index i0 = j;
        const float r0 = a0[i0 * 5 + i1];
        const float r1 = a1[i0 * 5 + i1];
        // tests/programs.py:48  y = nn.layer_norm(x, weight, bias)
        const float r2 = r0 * r1;
        s3 += r2;
    }
    double f3 = 0.0;
    f3 += s3;
    f3 = dg_across_y(f3, [](double &into, double value) { into += value; }, shared);
    if (lead) t0[row * gridDim.y + blockIdx.y] = (double)f3;
}

extern "C" __global__ void __launch_bounds__(512) k1_end(float *__restrict__ y0, double *t0) {
    __shared__ uint64_t shared[32];
    const dg_index row = blockIdx.x;
    const bool lead = threadIdx.x == 0;
    const dg_index i1 = row;
    double f3 = (double)t0[row * blockDim.x + threadIdx.x];
    f3 = dg_across_x(f3, [](double &into, double value) { into += value; }, shared);
    const float r3 = (float)f3;
    if (lead) y0[i1] = r3;
}

// sum: tests/programs.py:48  y = nn.layer_norm(x, weight, bias)
// fold over (n, 5)
extern "C" __global__ void __launch_bounds__(512) k2(const float *__restrict__ a0, float *__restrict__ y0, const dg_index n_n) {
    __shared__ uint64_t shared[512];
    const dg_index place = (dg_index)blockIdx.x * blockDim.x + threadIdx.x;
    const bool lead = place < 5 && threadIdx.y == 0;
    const dg_index row = dg_least(place, 5 - 1);
    const dg_index i1 = row;
    float s1 = 0.0f;
    for (dg_index j = (dg_index)threadIdx.y; j < n_n; j += blockDim.y) {
        const dg_index i0 = j;
        const float r0 = a0[i0 * 5 + i1];
        s1 += r0;
    }
    double f1 = 0.0;
    f1 += s1;
    f1 = dg_across_y(f1, [](double &into, double value) { into += value; }, shared);
    const float r1 = (float)f1;
    if (lead) y0[i1] = r1;
}

extern "C" __global__ void __launch_bounds__(512) k2_part(const float *__restrict__ a0, double *t0, const dg_index n_n) {
    __shared__ uint64_t shared[512];
    const dg_index place = (dg_index)blockIdx.x * blockDim.x + threadIdx.x;
    const bool lead = place < 5 && threadIdx.y == 0;
    const dg_index row = dg_least(place, 5 - 1);
    const dg_index i1 = row;
    const dg_index low = dg_stretch(n_n, 1, blockIdx.y);
    const dg_index high = dg_stretch(n_n, 1, blockIdx.y + 1);
    float s1 = 0.0f;
    for (dg_index j = low + (dg_index)threadIdx.y; j < high; j += blockDim.y) {
        const dg_index i0 = j;
        const float r0 = a0[i0 * 5 + i1];
        s1 += r0;
    }
    double f1 = 0.0;
    f1 += s1;
    f1 = dg_across_y(f1, [](double &into, double value) { into += value; }, shared);
    if (lead) t0[row * gridDim.y + blockIdx.y] = (double)f1;
}

extern "C" __global__ void __launch_bounds__(512) k2_end(float *__restrict__ y0, double *t0) {
    __shared__ uint64_t shared[32];
    const dg_index row = blockIdx.x;
    const bool lead = threadIdx.x == 0;
    const dg_index i1 = row;
    double f1 = (double)t0[row * blockDim.x + threadIdx.x];
    f1 = dg_across_x(f1, [](double &into, double value) { into += value; }, shared);
    const float r1 = (float)f1;
    if (lead) y0[i1] = r1;
}

weight, bias, = parameters
v0 = slot(0, (n, 5), 'float32')
v1 = slot(1, (n, 5), 'float32')
t2 = slot(2, (2560,), 'float64')
t3 = slot(3, (2560,), 'float64')


def step(x, out_y, out_dx, out_dw, out_db):
    # sum_divide_subtract_maximum: tests/programs.py:48  y = nn.layer_norm(x, weight, bias)
    k0(x, weight, bias, v0, out_y, v1, out_dx)
    # multiply_sum: tests/programs.py:48  y = nn.layer_norm(x, weight, bias)
    k1(v1, v0, out_dw, t2)
    # sum: tests/programs.py:48  y = nn.layer_norm(x, weight, bias)
    k2(v1, out_db, t3)
