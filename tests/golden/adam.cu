// add_astype_pow_multiply: Adam.w tests/programs.py:57  return (), optim.Adam(lr=0.001).updates(loss, [w, b])
// map over ()
extern "C" __global__ void __launch_bounds__(256) k0(const int64_t *a0, const float *__restrict__ a1, int64_t *y0, float *y1, float *y2, const dg_index n) {
    const dg_index p = (dg_index)blockIdx.x * blockDim.x + threadIdx.x;
    if (p >= n) return;
    const int64_t r0 = a0[0];
    const float r1 = a1[0];
    // tests/programs.py:57  return (), optim.Adam(lr=0.001).updates(loss, [w, b])
    const int64_t r2 = r0 + INT64_C(1);
    const double r3 = dg_to_float64(r2);
    const double r4 = dg_pow(0.999, r3);
    const double r5 = 1.0 - r4;
    const double r6 = dg_sqrt(r5);
    const double r7 = dg_pow(0.9, r3);
    const double r8 = 1.0 - r7;
    const double r9 = r6 / r8;
    const float r10 = dg_to_float32(r9);
    const float r11 = r1 * r10;
    const double r12 = 1e-08 * r6;
    const float r13 = dg_to_float32(r12);
    y0[0] = r2;
    y1[0] = r11;
    y2[0] = r13;
}

// matmul: tests/programs.py:56  loss = dg.mean((dg.asarray(np.eye(2, 4, dtype="f")) @ w + b) ** 2)
// call over (2, 3)
template <int V> DG_SCALAR void k1_of(const float *__restrict__ a0, const float *__restrict__ a1, float *__restrict__ y0) {
    __shared__ float shared[2 * DG_DEPTH * (16 * V + 1)];
    const dg_index tiles = dg_tiles<V>(2, 3);
    const dg_index tile = blockIdx.x % tiles, which = blockIdx.x / tiles;
    dg_product<V, true, true, float>(
        tile, 2, 3, 0, 4,
        [=](dg_index i, dg_index j) { return a0[i * 4 + j]; },
        [=](dg_index i, dg_index j) { return a1[i * 3 + j]; },
        [=](dg_index i, dg_index j, float sum) { y0[i * 3 + j] = sum; }, shared);
}
extern "C" __global__ void __launch_bounds__(256,1) k1_v4(const float *__restrict__ a0, const float *__restrict__ a1, float *__restrict__ y0) {
    k1_of<4>(a0, a1, y0);
}
extern "C" __global__ void __launch_bounds__(256,1) k1_v2(const float *__restrict__ a0, const float *__restrict__ a1, float *__restrict__ y0) {
    k1_of<2>(a0, a1, y0);
}

template <int V> DG_SCALAR void k1_1_of(const float *__restrict__ a0, const float *__restrict__ a1, float *t0) {
    __shared__ float shared[2 * DG_DEPTH * (16 * V + 1)];
    const dg_index tiles = dg_tiles<V>(2, 3);
    const dg_index tile = blockIdx.x % tiles, which = blockIdx.x / tiles;
    dg_product<V, true, true, float>(
        tile, 2, 3, dg_stretch(4, DG_DEPTH, blockIdx.y), dg_stretch(4, DG_DEPTH, blockIdx.y + 1),
        [=](dg_index i, dg_index j) { return a0[i * 4 + j]; },
        [=](dg_index i, dg_index j) { return a1[i * 3 + j]; },
        [=](dg_index i, dg_index j, float sum) { t0[blockIdx.y * (dg_index)6 + (which * 2 + i) * 3 + j] = sum; }, shared);
}
extern "C" __global__ void __launch_bounds__(256,1) k1_1_v4(const float *__restrict__ a0, const float *__restrict__ a1, float *t0) {
    k1_1_of<4>(a0, a1, t0);
}
extern "C" __global__ void __launch_bounds__(256,1) k1_1_v2(const float *__restrict__ a0, const float *__restrict__ a1, float *t0) {
    k1_1_of<2>(a0, a1, t0);
}

extern "C" __global__ void __launch_bounds__(256) k1_2(float *__restrict__ y0, float *t0) {
    __shared__ uint64_t shared[256];
    const dg_index p = (dg_index)blockIdx.x * blockDim.x + threadIdx.x;
    const dg_index place = dg_least(p, 6 - 1);
    const dg_index i1 = place % 3;
    const dg_index q1 = place / 3;
    const dg_index i0 = q1;
    const dg_index i = i0, j = i1;
    const float part = t0[threadIdx.y * (dg_index)6 + place];
    const float sum = dg_across_y(part, [](float &into, float value) { into += value; }, shared);
    if (p == place && threadIdx.y == 0) { y0[i * 3 + j] = sum; }
}

// add_multiply_sum_subtract: Adam.b tests/programs.py:57  return (), optim.Adam(lr=0.001).updates(loss, [w, b])
// row over (2, 3)
extern "C" __global__ void __launch_bounds__(512) k2(const float *a0, const float *a1, const float *__restrict__ a2, const float *a3, const float *a4, const float *__restrict__ a5, const float *__restrict__ a6, float *y0, float *y1, float *y2, float *y3) {
    __shared__ uint64_t shared[512];
    const dg_index place = (dg_index)blockIdx.x * blockDim.x + threadIdx.x;
    const bool lead = place < 3 && threadIdx.y == 0;
    const dg_index row = dg_least(place, 3 - 1);
    const dg_index i1 = row;
    const float r1 = a1[i1];
    const float r3 = a3[i1];
    const float r4 = a4[i1];
    const float r5 = a5[0];
    const float r6 = a6[0];
    // tests/programs.py:57  return (), optim.Adam(lr=0.001).updates(loss, [w, b])
    const float r9 = 0.9f * r3;
    const float r11 = 0.999f * r4;
    float s10 = 0.0f;
    for (dg_index j = (dg_index)threadIdx.y; place <= row && j < 2; j += blockDim.y) {
        const dg_index i0 = j;
        const float r0 = a0[i0 * 3 + i1];
        const float r2 = a2[i0 * 3 + i1];
        // tests/programs.py:56  loss = dg.mean((dg.asarray(np.eye(2, 4, dtype="f")) @ w + b) ** 2)
        const float r7 = r0 + r1;
        const float r8 = r2 * r7;
        s10 += r8;
        y0[i0 * 3 + i1] = r8;
    }
    double f10 = 0.0;
    f10 += s10;
    f10 = dg_across_y(f10, [](double &into, double value) { into += value; }, shared);
    const float r10 = (float)f10;
    // tests/programs.py:57  return (), optim.Adam(lr=0.001).updates(loss, [w, b])
    const float r12 = 0.1f * r10;
    const float r13 = r9 + r12;
    const float r14 = r10 * r10;
    const float r15 = 0.001f * r14;
    const float r16 = r11 + r15;
    const float r17 = r5 * r13;
    const float r18 = dg_sqrt(r16);
    const float r19 = r18 + r6;
    const float r20 = r17 / r19;
    const float r21 = r1 - r20;
    if (lead) y1[i1] = r13;
    if (lead) y2[i1] = r16;
    if (lead) y3[i1] = r21;
}

// matmul: tests/programs.py:56  loss = dg.mean((dg.asarray(np.eye(2, 4, dtype="f")) @ w + b) ** 2)
// call over (4, 3)
template <int V> DG_SCALAR void k3_of(const float *__restrict__ a0, const float *__restrict__ a1, float *__restrict__ y0) {
    __shared__ float shared[2 * DG_DEPTH * (16 * V + 1)];
    const dg_index tiles = dg_tiles<V>(4, 3);
    const dg_index tile = blockIdx.x % tiles, which = blockIdx.x / tiles;
    dg_product<V, false, true, float>(
        tile, 4, 3, 0, 2,
        [=](dg_index i, dg_index j) { return a0[i + j * 4]; },
        [=](dg_index i, dg_index j) { return a1[i * 3 + j]; },
        [=](dg_index i, dg_index j, float sum) { y0[i * 3 + j] = sum; }, shared);
}
extern "C" __global__ void __launch_bounds__(256,1) k3_v4(const float *__restrict__ a0, const float *__restrict__ a1, float *__restrict__ y0) {
    k3_of<4>(a0, a1, y0);
}
extern "C" __global__ void __launch_bounds__(256,1) k3_v2(const float *__restrict__ a0, const float *__restrict__ a1, float *__restrict__ y0) {
    k3_of<2>(a0, a1, y0);
}

template <int V> DG_SCALAR void k3_1_of(const float *__restrict__ a0, const float *__restrict__ a1, float *t0) {
    __shared__ float shared[2 * DG_DEPTH * (16 * V + 1)];
    const dg_index tiles = dg_tiles<V>(4, 3);
    const dg_index tile = blockIdx.x % tiles, which = blockIdx.x / tiles;
    dg_product<V, false, true, float>(
        tile, 4, 3, dg_stretch(2, DG_DEPTH, blockIdx.y), dg_stretch(2, DG_DEPTH, blockIdx.y + 1),
        [=](dg_index i, dg_index j) { return a0[i + j * 4]; },
        [=](dg_index i, dg_index j) { return a1[i * 3 + j]; },
        [=](dg_index i, dg_index j, float sum) { t0[blockIdx.y * (dg_index)12 + (which * 4 + i) * 3 + j] = sum; }, shared);
}
extern "C" __global__ void __launch_bounds__(256,1) k3_1_v4(const float *__restrict__ a0, const float *__restrict__ a1, float *t0) {
    k3_1_of<4>(a0, a1, t0);
}
extern "C" __global__ void __launch_bounds__(256,1) k3_1_v2(const float *__restrict__ a0, const float *__restrict__ a1, float *t0) {
    k3_1_of<2>(a0, a1, t0);
}

extern "C" __global__ void __launch_bounds__(256) k3_2(float *__restrict__ y0, float *t0) {
    __shared__ uint64_t shared[256];
    const dg_index p = (dg_index)blockIdx.x * blockDim.x + threadIdx.x;
    const dg_index place = dg_least(p, 12 - 1);
    const dg_index i1 = place % 3;
    const dg_index q1 = place / 3;
    const dg_index i0 = q1;
    const dg_index i = i0, j = i1;
    const float part = t0[threadIdx.y * (dg_index)12 + place];
    const float sum = dg_across_y(part, [](float &into, float value) { into += value; }, shared);
    if (p == place && threadIdx.y == 0) { y0[i * 3 + j] = sum; }
}

// multiply_add_square_subtract: Adam.w tests/programs.py:57  return (), optim.Adam(lr=0.001).updates(loss, [w, b])
// map over (12,)
template <int V> DG_SCALAR void k4_of(const float *a0, const float *__restrict__ a1, const float *a2, const float *__restrict__ a3, const float *__restrict__ a4, const float *a5, float *y0, float *y1, float *y2, const dg_index n) {
    const dg_index p = (dg_index)blockIdx.x * blockDim.x + threadIdx.x;
    if (p >= n / V) return;
    const dg_index i0 = p * V;
    const float r3 = a3[0];
    const float r4 = a4[0];
    const dg_pack<float, V> p0 = dg_load<V>(a0 + i0);
    const dg_pack<float, V> p1 = dg_load<V>(a1 + i0);
    const dg_pack<float, V> p2 = dg_load<V>(a2 + i0);
    const dg_pack<float, V> p5 = dg_load<V>(a5 + i0);
    dg_pack<float, V> w0;
    dg_pack<float, V> w1;
    dg_pack<float, V> w2;
    #pragma unroll
    for (int v = 0; v < V; v++) {
        const float r0 = p0.at[v];
        const float r1 = p1.at[v];
        const float r2 = p2.at[v];
        const float r5 = p5.at[v];
        // tests/programs.py:57  return (), optim.Adam(lr=0.001).updates(loss, [w, b])
        const float r6 = 0.9f * r0;
        const float r7 = 0.1f * r1;
        const float r8 = r6 + r7;
        const float r9 = 0.999f * r2;
        const float r10 = r1 * r1;
        const float r11 = 0.001f * r10;
        const float r12 = r9 + r11;
        const float r13 = r3 * r8;
        const float r14 = dg_sqrt(r12);
        const float r15 = r14 + r4;
        const float r16 = r13 / r15;
        const float r17 = r5 - r16;
        w0.at[v] = r8;
        w1.at[v] = r12;
        w2.at[v] = r17;
    }
    dg_save<V>(y0 + i0, w0);
    dg_save<V>(y1 + i0, w1);
    dg_save<V>(y2 + i0, w2);
}
extern "C" __global__ void __launch_bounds__(256) k4_v4(const float *a0, const float *__restrict__ a1, const float *a2, const float *__restrict__ a3, const float *__restrict__ a4, const float *a5, float *y0, float *y1, float *y2, const dg_index n) {
    k4_of<4>(a0, a1, a2, a3, a4, a5, y0, y1, y2, n);
}
extern "C" __global__ void __launch_bounds__(256) k4_v1(const float *a0, const float *__restrict__ a1, const float *a2, const float *__restrict__ a3, const float *__restrict__ a4, const float *a5, float *y0, float *y1, float *y2, const dg_index n) {
    k4_of<1>(a0, a1, a2, a3, a4, a5, y0, y1, y2, n);
}

iteration, mean_w, w, b, square_w, lr, mean_b, square_b, = parameters
c0, c1, = constants
v0 = slot(0, (), 'float32')
v1 = slot(1, (), 'float32')
v2 = slot(2, (2, 3), 'float32')
t3 = slot(3, (96,), 'float32')
t0 = slot(3, (96,), 'float32')
v3 = slot(2, (2, 3), 'float32')
v4 = slot(4, (4, 3), 'float32')
t5 = slot(5, (192,), 'float32')
c0_ = view(c0, (4, 2), (1, 4))
t1 = slot(5, (192,), 'float32')


def step():
    # add_astype_pow_multiply: Adam.w tests/programs.py:57  return (), optim.Adam(lr=0.001).updates(loss, [w, b])
    k0(iteration, lr, iteration, v0, v1)
    # matmul: tests/programs.py:56  loss = dg.mean((dg.asarray(np.eye(2, 4, dtype="f")) @ w + b) ** 2)
    if k1:
        k1(c0, w, v2, t3)
    else:
        cp.matmul(c0, w, out=v2)
    # add_multiply_sum_subtract: Adam.b tests/programs.py:57  return (), optim.Adam(lr=0.001).updates(loss, [w, b])
    k2(v2, b, c1, mean_b, square_b, v0, v1, v3, mean_b, square_b, b)
    # matmul: tests/programs.py:56  loss = dg.mean((dg.asarray(np.eye(2, 4, dtype="f")) @ w + b) ** 2)
    if k3:
        k3(c0, v3, v4, t5)
    else:
        cp.matmul(c0_, v3, out=v4)
    # multiply_add_square_subtract: Adam.w tests/programs.py:57  return (), optim.Adam(lr=0.001).updates(loss, [w, b])
    k4(mean_w, v4, square_w, v0, v1, w, mean_w, square_w, w)
