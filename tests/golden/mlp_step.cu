// check_index: softmax_cross_entropy tests/programs.py:21  loss = nn.softmax_cross_entropy(model(x, training=True), t)
// call over (batch,)
extern "C" __global__ void __launch_bounds__(256) k0(const int64_t *__restrict__ a0, int64_t *fault, const dg_index n_batch) {
    const dg_index p = (dg_index)blockIdx.x * blockDim.x + threadIdx.x;
    if (p >= n_batch) return;
    const dg_index i0 = p;
    if (*fault) return;
    if (dg_outside((int64_t)a0[i0], 0, 3)) fault[1] = 1;
}

extern "C" __global__ void __launch_bounds__(256) k0_1(const int64_t *__restrict__ a0, int64_t *fault, const dg_index n_batch) {
    if (*fault || !fault[1]) return;
    __shared__ uint64_t shared[32];
    if (n_batch) {
        int64_t least = a0[0], greatest = least;
        for (dg_index p = threadIdx.x; p < n_batch; p += blockDim.x) {
            const dg_index i0 = p;
            const int64_t j = a0[i0];
            least = j < least ? j : least;
            greatest = j > greatest ? j : greatest;
        }
        const int64_t low = dg_across_x(least, [](int64_t &into, int64_t value) { into = value < into ? value : into; }, shared);
        const int64_t high = dg_across_x(greatest, [](int64_t &into, int64_t value) { into = value > into ? value : into; }, shared);
        const int64_t told = dg_told((int64_t)low, (int64_t)high, 0, 3);
        if (dg_outside(told, 0, 3)) {
            if (threadIdx.x == 0) fault[0] = 1, fault[1] = told, fault[2] = 3;
            return;
        }
    }
}

extern "C" __global__ void __launch_bounds__(256) k0_2(const int64_t *__restrict__ a0, int64_t *__restrict__ y0, int64_t *fault, const dg_index n_batch) {
    const dg_index p = (dg_index)blockIdx.x * blockDim.x + threadIdx.x;
    if (p >= n_batch) return;
    const dg_index i0 = p;
    if (*fault) return;
    y0[i0] = a0[i0];
}

// equal: softmax_cross_entropy tests/programs.py:21  loss = nn.softmax_cross_entropy(model(x, training=True), t)
// map over (batch, 3)
template <int V> DG_SCALAR void k1_of(const int64_t *__restrict__ a0, const int64_t *__restrict__ a1, uint8_t *__restrict__ y0, const dg_index n) {
    const dg_index p = (dg_index)blockIdx.x * blockDim.x + threadIdx.x;
    if (p >= n / V) return;
    const dg_index i1 = (p % (3 / V)) * V;
    const dg_index q1 = p / (3 / V);
    const dg_index i0 = q1;
    const int64_t r0 = a0[i0];
    const dg_pack<int64_t, V> p1 = dg_load<V>(a1 + i1);
    dg_pack<uint8_t, V> w0;
    #pragma unroll
    for (int v = 0; v < V; v++) {
        const int64_t r1 = p1.at[v];
        // tests/programs.py:21  loss = nn.softmax_cross_entropy(model(x, training=True), t)
        const dg_bool r2 = dg_equal(r0, r1);
        w0.at[v] = r2;
    }
    dg_save<V>(y0 + (i0 * 3 + i1), w0);
}
extern "C" __global__ void __launch_bounds__(256) k1_v2(const int64_t *__restrict__ a0, const int64_t *__restrict__ a1, uint8_t *__restrict__ y0, const dg_index n) {
    k1_of<2>(a0, a1, y0, n);
}
extern "C" __global__ void __launch_bounds__(256) k1_v1(const int64_t *__restrict__ a0, const int64_t *__restrict__ a1, uint8_t *__restrict__ y0, const dg_index n) {
    k1_of<1>(a0, a1, y0, n);
}

// add: SGD tests/programs.py:23  return {"loss": loss}, opt.updates(loss, model.parameters)
// map over ()
extern "C" __global__ void __launch_bounds__(256) k2(const int64_t *a0, int64_t *y0, int64_t *fault, const dg_index n) {
    if (*fault) return;
    const dg_index p = (dg_index)blockIdx.x * blockDim.x + threadIdx.x;
    if (p >= n) return;
    const int64_t r0 = a0[0];
    // tests/programs.py:23  return {"loss": loss}, opt.updates(loss, model.parameters)
    const int64_t r1 = r0 + INT64_C(1);
    y0[0] = r1;
}

// matmul: 0 tests/programs.py:21  loss = nn.softmax_cross_entropy(model(x, training=True), t)
// call over (batch, 6)
template <int V> DG_SCALAR void k3_of(const float *__restrict__ a0, const float *__restrict__ a1, float *__restrict__ y0, const dg_index n_batch) {
    __shared__ float shared[2 * DG_DEPTH * (16 * V + 1)];
    const dg_index tiles = dg_tiles<V>(n_batch, 6);
    const dg_index tile = blockIdx.x % tiles, which = blockIdx.x / tiles;
    dg_product<V, true, true, float>(
        tile, n_batch, 6, 0, 8,
        [=](dg_index i, dg_index j) { return a0[i * 8 + j]; },
        [=](dg_index i, dg_index j) { return a1[i * 6 + j]; },
        [=](dg_index i, dg_index j, float sum) { y0[i * 6 + j] = sum; }, shared);
}
extern "C" __global__ void __launch_bounds__(256,1) k3_v4(const float *__restrict__ a0, const float *__restrict__ a1, float *__restrict__ y0, const dg_index n_batch) {
    k3_of<4>(a0, a1, y0, n_batch);
}
extern "C" __global__ void __launch_bounds__(256,1) k3_v2(const float *__restrict__ a0, const float *__restrict__ a1, float *__restrict__ y0, const dg_index n_batch) {
    k3_of<2>(a0, a1, y0, n_batch);
}

template <int V> DG_SCALAR void k3_1_of(const float *__restrict__ a0, const float *__restrict__ a1, float *t0, const dg_index n_batch) {
    __shared__ float shared[2 * DG_DEPTH * (16 * V + 1)];
    const dg_index tiles = dg_tiles<V>(n_batch, 6);
    const dg_index tile = blockIdx.x % tiles, which = blockIdx.x / tiles;
    dg_product<V, true, true, float>(
        tile, n_batch, 6, dg_stretch(8, DG_DEPTH, blockIdx.y), dg_stretch(8, DG_DEPTH, blockIdx.y + 1),
        [=](dg_index i, dg_index j) { return a0[i * 8 + j]; },
        [=](dg_index i, dg_index j) { return a1[i * 6 + j]; },
        [=](dg_index i, dg_index j, float sum) { t0[blockIdx.y * (dg_index)(n_batch*6) + (which * n_batch + i) * 6 + j] = sum; }, shared);
}
extern "C" __global__ void __launch_bounds__(256,1) k3_1_v4(const float *__restrict__ a0, const float *__restrict__ a1, float *t0, const dg_index n_batch) {
    k3_1_of<4>(a0, a1, t0, n_batch);
}
extern "C" __global__ void __launch_bounds__(256,1) k3_1_v2(const float *__restrict__ a0, const float *__restrict__ a1, float *t0, const dg_index n_batch) {
    k3_1_of<2>(a0, a1, t0, n_batch);
}

extern "C" __global__ void __launch_bounds__(256) k3_2(float *__restrict__ y0, float *t0, const dg_index n_batch) {
    __shared__ uint64_t shared[256];
    const dg_index p = (dg_index)blockIdx.x * blockDim.x + threadIdx.x;
    const dg_index place = dg_least(p, n_batch*6 - 1);
    const dg_index i1 = place % 6;
    const dg_index q1 = place / 6;
    const dg_index i0 = q1;
    const dg_index i = i0, j = i1;
    const float part = t0[threadIdx.y * (dg_index)(n_batch*6) + place];
    const float sum = dg_across_y(part, [](float &into, float value) { into += value; }, shared);
    if (p == place && threadIdx.y == 0) { y0[i * 6 + j] = sum; }
}

// add_relu_greater: tests/programs.py:21  loss = nn.softmax_cross_entropy(model(x, training=True), t)
// map over (batch, 6)
template <int V> DG_SCALAR void k4_of(const float *a0, const float *__restrict__ a1, float *y0, uint8_t *y1, const dg_index n) {
    const dg_index p = (dg_index)blockIdx.x * blockDim.x + threadIdx.x;
    if (p >= n / V) return;
    const dg_index i1 = (p % (6 / V)) * V;
    const dg_index q1 = p / (6 / V);
    const dg_index i0 = q1;
    const dg_pack<float, V> p0 = dg_load<V>(a0 + (i0 * 6 + i1));
    const dg_pack<float, V> p1 = dg_load<V>(a1 + i1);
    dg_pack<float, V> w0;
    dg_pack<uint8_t, V> w1;
    #pragma unroll
    for (int v = 0; v < V; v++) {
        const float r0 = p0.at[v];
        const float r1 = p1.at[v];
        // tests/programs.py:21  loss = nn.softmax_cross_entropy(model(x, training=True), t)
        const float r2 = r0 + r1;
        const float r3 = dg_relu(r2);
        const dg_bool r4 = dg_greater(r3, 0.0f);
        w0.at[v] = r3;
        w1.at[v] = r4;
    }
    dg_save<V>(y0 + (i0 * 6 + i1), w0);
    dg_save<V>(y1 + (i0 * 6 + i1), w1);
}
extern "C" __global__ void __launch_bounds__(256) k4_v4(const float *a0, const float *__restrict__ a1, float *y0, uint8_t *y1, const dg_index n) {
    k4_of<4>(a0, a1, y0, y1, n);
}
extern "C" __global__ void __launch_bounds__(256) k4_v1(const float *a0, const float *__restrict__ a1, float *y0, uint8_t *y1, const dg_index n) {
    k4_of<1>(a0, a1, y0, y1, n);
}

// matmul: 2 tests/programs.py:21  loss = nn.softmax_cross_entropy(model(x, training=True), t)
// call over (batch, 3)
template <int V> DG_SCALAR void k5_of(const float *__restrict__ a0, const float *__restrict__ a1, float *__restrict__ y0, const dg_index n_batch) {
    __shared__ float shared[2 * DG_DEPTH * (16 * V + 1)];
    const dg_index tiles = dg_tiles<V>(n_batch, 3);
    const dg_index tile = blockIdx.x % tiles, which = blockIdx.x / tiles;
    dg_product<V, true, true, float>(
        tile, n_batch, 3, 0, 6,
        [=](dg_index i, dg_index j) { return a0[i * 6 + j]; },
        [=](dg_index i, dg_index j) { return a1[i * 3 + j]; },
        [=](dg_index i, dg_index j, float sum) { y0[i * 3 + j] = sum; }, shared);
}
extern "C" __global__ void __launch_bounds__(256,1) k5_v4(const float *__restrict__ a0, const float *__restrict__ a1, float *__restrict__ y0, const dg_index n_batch) {
    k5_of<4>(a0, a1, y0, n_batch);
}
extern "C" __global__ void __launch_bounds__(256,1) k5_v2(const float *__restrict__ a0, const float *__restrict__ a1, float *__restrict__ y0, const dg_index n_batch) {
    k5_of<2>(a0, a1, y0, n_batch);
}

template <int V> DG_SCALAR void k5_1_of(const float *__restrict__ a0, const float *__restrict__ a1, float *t0, const dg_index n_batch) {
    __shared__ float shared[2 * DG_DEPTH * (16 * V + 1)];
    const dg_index tiles = dg_tiles<V>(n_batch, 3);
    const dg_index tile = blockIdx.x % tiles, which = blockIdx.x / tiles;
    dg_product<V, true, true, float>(
        tile, n_batch, 3, dg_stretch(6, DG_DEPTH, blockIdx.y), dg_stretch(6, DG_DEPTH, blockIdx.y + 1),
        [=](dg_index i, dg_index j) { return a0[i * 6 + j]; },
        [=](dg_index i, dg_index j) { return a1[i * 3 + j]; },
        [=](dg_index i, dg_index j, float sum) { t0[blockIdx.y * (dg_index)(n_batch*3) + (which * n_batch + i) * 3 + j] = sum; }, shared);
}
extern "C" __global__ void __launch_bounds__(256,1) k5_1_v4(const float *__restrict__ a0, const float *__restrict__ a1, float *t0, const dg_index n_batch) {
    k5_1_of<4>(a0, a1, t0, n_batch);
}
extern "C" __global__ void __launch_bounds__(256,1) k5_1_v2(const float *__restrict__ a0, const float *__restrict__ a1, float *t0, const dg_index n_batch) {
    k5_1_of<2>(a0, a1, t0, n_batch);
}

extern "C" __global__ void __launch_bounds__(256) k5_2(float *__restrict__ y0, float *t0, const dg_index n_batch) {
    __shared__ uint64_t shared[256];
    const dg_index p = (dg_index)blockIdx.x * blockDim.x + threadIdx.x;
    const dg_index place = dg_least(p, n_batch*3 - 1);
    const dg_index i1 = place % 3;
    const dg_index q1 = place / 3;
    const dg_index i0 = q1;
    const dg_index i = i0, j = i1;
    const float part = t0[threadIdx.y * (dg_index)(n_batch*3) + place];
    const float sum = dg_across_y(part, [](float &into, float value) { into += value; }, shared);
    if (p == place && threadIdx.y == 0) { y0[i * 3 + j] = sum; }
}

// add_max_subtract: softmax_cross_entropy tests/programs.py:21  loss = nn.softmax_cross_entropy(model(x, training=True), t)
// row over (batch, 3)
template <int V> DG_SCALAR void k6_of(const float *a0, const float *__restrict__ a1, float *y0, const dg_index n_batch) {
    __shared__ uint64_t shared[32];
    const dg_index place = (dg_index)blockIdx.x * blockDim.y + threadIdx.y;
    const bool lead = place < n_batch && threadIdx.x == 0;
    const dg_index row = dg_least(place, n_batch - 1);
    const dg_index i0 = row;
    float s3 = (-INFINITY);
    int n3 = 0;
    for (dg_index j = (dg_index)threadIdx.x * V; j < 3; j += blockDim.x * V) {
        const dg_index i1 = j;
        const dg_pack<float, V> p0 = dg_load<V>(a0 + (i0 * 3 + i1));
        const dg_pack<float, V> p1 = dg_load<V>(a1 + i1);
        #pragma unroll
        for (int v = 0; v < V; v++) {
            const float r0 = p0.at[v];
            const float r1 = p1.at[v];
            // tests/programs.py:21  loss = nn.softmax_cross_entropy(model(x, training=True), t)
            const float r2 = r0 + r1;
            s3 = r2 > s3 ? r2 : s3;
            n3 |= r2 != r2;
        }
    }
    float f3 = (-INFINITY);
    f3 = dg_maximum(f3, (n3 ? (float)NAN : s3));
    f3 = dg_across_x(f3, [](float &into, float value) { into = dg_maximum(into, value); }, shared);
    const float r3 = (float)f3;
    for (dg_index j = (dg_index)threadIdx.x * V; place <= row && j < 3; j += blockDim.x * V) {
        const dg_index i1 = j;
        const dg_pack<float, V> p0 = dg_load<V>(a0 + (i0 * 3 + i1));
        const dg_pack<float, V> p1 = dg_load<V>(a1 + i1);
        dg_pack<float, V> w0;
        #pragma unroll
        for (int v = 0; v < V; v++) {
            const float r0 = p0.at[v];
            const float r1 = p1.at[v];
            const float r2 = r0 + r1;
            const float r4 = r2 - r3;
            w0.at[v] = r4;
        }
        dg_save<V>(y0 + (i0 * 3 + i1), w0);
    }
}
extern "C" __global__ void __launch_bounds__(512) k6_v4(const float *a0, const float *__restrict__ a1, float *y0, const dg_index n_batch) {
    k6_of<4>(a0, a1, y0, n_batch);
}
extern "C" __global__ void __launch_bounds__(512) k6_v1(const float *a0, const float *__restrict__ a1, float *y0, const dg_index n_batch) {
    k6_of<1>(a0, a1, y0, n_batch);
}

// where_sum: softmax_cross_entropy tests/programs.py:21  loss = nn.softmax_cross_entropy(model(x, training=True), t)
// fold over (batch, 3)
template <int V> DG_SCALAR void k7_of(const uint8_t *__restrict__ a0, const float *__restrict__ a1, float *__restrict__ y0, const dg_index n_batch) {
    __shared__ uint64_t shared[32];
    const dg_index place = (dg_index)blockIdx.x * blockDim.y + threadIdx.y;
    const bool lead = place < n_batch && threadIdx.x == 0;
    const dg_index row = dg_least(place, n_batch - 1);
    const dg_index i0 = row;
    float s3 = 0.0f;
    for (dg_index j = (dg_index)threadIdx.x * V; j < 3; j += blockDim.x * V) {
        const dg_index i1 = j;
        const dg_pack<uint8_t, V> p0 = dg_load<V>(a0 + (i0 * 3 + i1));
        const dg_pack<float, V> p1 = dg_load<V>(a1 + (i0 * 3 + i1));
        #pragma unroll
        for (int v = 0; v < V; v++) {
            const dg_bool r0 = p0.at[v];
            const float r1 = p1.at[v];
            // tests/programs.py:21  loss = nn.softmax_cross_entropy(model(x, training=True), t)
            const float r2 = r0 ? r1 : 0.0f;
            s3 += r2;
        }
    }
    double f3 = 0.0;
    f3 += s3;
    f3 = dg_across_x(f3, [](double &into, double value) { into += value; }, shared);
    const float r3 = (float)f3;
    if (lead) y0[i0] = r3;
}
extern "C" __global__ void __launch_bounds__(512) k7_v4(const uint8_t *__restrict__ a0, const float *__restrict__ a1, float *__restrict__ y0, const dg_index n_batch) {
    k7_of<4>(a0, a1, y0, n_batch);
}
extern "C" __global__ void __launch_bounds__(512) k7_v1(const uint8_t *__restrict__ a0, const float *__restrict__ a1, float *__restrict__ y0, const dg_index n_batch) {
    k7_of<1>(a0, a1, y0, n_batch);
}

template <int V> DG_SCALAR void k7_part_of(const uint8_t *__restrict__ a0, const float *__restrict__ a1, double *t0, const dg_index n_batch) {
    __shared__ uint64_t shared[32];
    const dg_index place = (dg_index)blockIdx.x * blockDim.y + threadIdx.y;
    const bool lead = place < n_batch && threadIdx.x == 0;
    const dg_index row = dg_least(place, n_batch - 1);
    const dg_index i0 = row;
    const dg_index low = dg_stretch(3, V, blockIdx.y);
    const dg_index high = dg_stretch(3, V, blockIdx.y + 1);
    float s3 = 0.0f;
    for (dg_index j = low + (dg_index)threadIdx.x * V; j < high; j += blockDim.x * V) {
        const dg_index i1 = j;
        const dg_pack<uint8_t, V> p0 = dg_load<V>(a0 + (i0 * 3 + i1));
        const dg_pack<float, V> p1 = dg_load<V>(a1 + (i0 * 3 + i1));
        #pragma unroll
        for (int v = 0; v < V; v++) {
            const dg_bool r0 = p0.at[v];
            const float r1 = p1.at[v];
            // tests/programs.py:21  loss = nn.softmax_cross_entropy(model(x, training=True), t)
            const float r2 = r0 ? r1 : 0.0f;
            s3 += r2;
        }
    }
    double f3 = 0.0;
    f3 += s3;
    f3 = dg_across_x(f3, [](double &into, double value) { into += value; }, shared);
    if (lead) t0[row * gridDim.y + blockIdx.y] = (double)f3;
}
extern "C" __global__ void __launch_bounds__(512) k7_part_v4(const uint8_t *__restrict__ a0, const float *__restrict__ a1, double *t0, const dg_index n_batch) {
    k7_part_of<4>(a0, a1, t0, n_batch);
}
extern "C" __global__ void __launch_bounds__(512) k7_part_v1(const uint8_t *__restrict__ a0, const float *__restrict__ a1, double *t0, const dg_index n_batch) {
    k7_part_of<1>(a0, a1, t0, n_batch);
}

extern "C" __global__ void __launch_bounds__(512) k7_end(float *__restrict__ y0, double *t0) {
    __shared__ uint64_t shared[32];
    const dg_index row = blockIdx.x;
    const bool lead = threadIdx.x == 0;
    const dg_index i0 = row;
    double f3 = (double)t0[row * blockDim.x + threadIdx.x];
    f3 = dg_across_x(f3, [](double &into, double value) { into += value; }, shared);
    const float r3 = (float)f3;
    if (lead) y0[i0] = r3;
}

// exp: softmax_cross_entropy tests/programs.py:21  loss = nn.softmax_cross_entropy(model(x, training=True), t)
// map over (batch*3,)
template <int V> DG_SCALAR void k8_of(const float *a0, float *y0, const dg_index n) {
    const dg_index p = (dg_index)blockIdx.x * blockDim.x + threadIdx.x;
    if (p >= n / V) return;
    const dg_index i0 = p * V;
    const dg_pack<float, V> p0 = dg_load<V>(a0 + i0);
    dg_pack<float, V> w0;
    #pragma unroll
    for (int v = 0; v < V; v++) {
        const float r0 = p0.at[v];
        // tests/programs.py:21  loss = nn.softmax_cross_entropy(model(x, training=True), t)
        const float r1 = dg_exp(r0);
        w0.at[v] = r1;
    }
    dg_save<V>(y0 + i0, w0);
}
extern "C" __global__ void __launch_bounds__(256) k8_v4(const float *a0, float *y0, const dg_index n) {
    k8_of<4>(a0, y0, n);
}
extern "C" __global__ void __launch_bounds__(256) k8_v1(const float *a0, float *y0, const dg_index n) {
    k8_of<1>(a0, y0, n);
}

// sum: softmax_cross_entropy tests/programs.py:21  loss = nn.softmax_cross_entropy(model(x, training=True), t)
// fold over (batch, 3)
template <int V> DG_SCALAR void k9_of(const float *__restrict__ a0, float *__restrict__ y0, const dg_index n_batch) {
    __shared__ uint64_t shared[32];
    const dg_index place = (dg_index)blockIdx.x * blockDim.y + threadIdx.y;
    const bool lead = place < n_batch && threadIdx.x == 0;
    const dg_index row = dg_least(place, n_batch - 1);
    const dg_index i0 = row;
    float s1 = 0.0f;
    for (dg_index j = (dg_index)threadIdx.x * V; j < 3; j += blockDim.x * V) {
        const dg_index i1 = j;
        const dg_pack<float, V> p0 = dg_load<V>(a0 + (i0 * 3 + i1));
        #pragma unroll
        for (int v = 0; v < V; v++) {
            const float r0 = p0.at[v];
            s1 += r0;
        }
    }
    double f1 = 0.0;
    f1 += s1;
    f1 = dg_across_x(f1, [](double &into, double value) { into += value; }, shared);
    const float r1 = (float)f1;
    if (lead) y0[i0] = r1;
}
extern "C" __global__ void __launch_bounds__(512) k9_v4(const float *__restrict__ a0, float *__restrict__ y0, const dg_index n_batch) {
    k9_of<4>(a0, y0, n_batch);
}
extern "C" __global__ void __launch_bounds__(512) k9_v1(const float *__restrict__ a0, float *__restrict__ y0, const dg_index n_batch) {
    k9_of<1>(a0, y0, n_batch);
}

template <int V> DG_SCALAR void k9_part_of(const float *__restrict__ a0, double *t0, const dg_index n_batch) {
    __shared__ uint64_t shared[32];
    const dg_index place = (dg_index)blockIdx.x * blockDim.y + threadIdx.y;
    const bool lead = place < n_batch && threadIdx.x == 0;
    const dg_index row = dg_least(place, n_batch - 1);
    const dg_index i0 = row;
    const dg_index low = dg_stretch(3, V, blockIdx.y);
    const dg_index high = dg_stretch(3, V, blockIdx.y + 1);
    float s1 = 0.0f;
    for (dg_index j = low + (dg_index)threadIdx.x * V; j < high; j += blockDim.x * V) {
        const dg_index i1 = j;
        const dg_pack<float, V> p0 = dg_load<V>(a0 + (i0 * 3 + i1));
        #pragma unroll
        for (int v = 0; v < V; v++) {
            const float r0 = p0.at[v];
            s1 += r0;
        }
    }
    double f1 = 0.0;
    f1 += s1;
    f1 = dg_across_x(f1, [](double &into, double value) { into += value; }, shared);
    if (lead) t0[row * gridDim.y + blockIdx.y] = (double)f1;
}
extern "C" __global__ void __launch_bounds__(512) k9_part_v4(const float *__restrict__ a0, double *t0, const dg_index n_batch) {
    k9_part_of<4>(a0, t0, n_batch);
}
extern "C" __global__ void __launch_bounds__(512) k9_part_v1(const float *__restrict__ a0, double *t0, const dg_index n_batch) {
    k9_part_of<1>(a0, t0, n_batch);
}

extern "C" __global__ void __launch_bounds__(512) k9_end(float *__restrict__ y0, double *t0) {
    __shared__ uint64_t shared[32];
    const dg_index row = blockIdx.x;
    const bool lead = threadIdx.x == 0;
    const dg_index i0 = row;
    double f1 = (double)t0[row * blockDim.x + threadIdx.x];
    f1 = dg_across_x(f1, [](double &into, double value) { into += value; }, shared);
    const float r1 = (float)f1;
    if (lead) y0[i0] = r1;
}

// log_subtract_sum_divide: softmax_cross_entropy tests/programs.py:21  loss = nn.softmax_cross_entropy(model(x, training=True), t)
// fold over (batch,)
template <int V> DG_SCALAR void k10_of(const float *__restrict__ a0, const float *__restrict__ a1, float *__restrict__ y0, const dg_index n_batch) {
    __shared__ uint64_t shared[32];
    const dg_index place = (dg_index)blockIdx.x * blockDim.y + threadIdx.y;
    const bool lead = place < 1 && threadIdx.x == 0;
    const dg_index row = dg_least(place, 1 - 1);
    float s4 = 0.0f;
    for (dg_index j = (dg_index)threadIdx.x * V; j < n_batch; j += blockDim.x * V) {
        const dg_index i0 = j;
        const dg_pack<float, V> p0 = dg_load<V>(a0 + i0);
        const dg_pack<float, V> p1 = dg_load<V>(a1 + i0);
        #pragma unroll
        for (int v = 0; v < V; v++) {
            const float r0 = p0.at[v];
            const float r1 = p1.at[v];
            // tests/programs.py:21  loss = nn.softmax_cross_entropy(model(x, training=True), t)
            const float r2 = dg_log(r0);
            const float r3 = r2 - r1;
            s4 += r3;
        }
    }
    double f4 = 0.0;
    f4 += s4;
    f4 = dg_across_x(f4, [](double &into, double value) { into += value; }, shared);
    const float r4 = (float)f4;
    const float r5 = r4 / dg_to_float32(n_batch);
    if (lead) y0[0] = r5;
}
extern "C" __global__ void __launch_bounds__(512) k10_v4(const float *__restrict__ a0, const float *__restrict__ a1, float *__restrict__ y0, const dg_index n_batch) {
    k10_of<4>(a0, a1, y0, n_batch);
}
extern "C" __global__ void __launch_bounds__(512) k10_v1(const float *__restrict__ a0, const float *__restrict__ a1, float *__restrict__ y0, const dg_index n_batch) {
    k10_of<1>(a0, a1, y0, n_batch);
}

template <int V> DG_SCALAR void k10_part_of(const float *__restrict__ a0, const float *__restrict__ a1, double *t0, const dg_index n_batch) {
    __shared__ uint64_t shared[32];
    const dg_index place = (dg_index)blockIdx.x * blockDim.y + threadIdx.y;
    const bool lead = place < 1 && threadIdx.x == 0;
    const dg_index row = dg_least(place, 1 - 1);
    const dg_index low = dg_stretch(n_batch, V, blockIdx.y);
    const dg_index high = dg_stretch(n_batch, V, blockIdx.y + 1);
    float s4 = 0.0f;
    for (dg_index j = low + (dg_index)threadIdx.x * V; j < high; j += blockDim.x * V) {
        const dg_index i0 = j;
        const dg_pack<float, V> p0 = dg_load<V>(a0 + i0);
        const dg_pack<float, V> p1 = dg_load<V>(a1 + i0);
        #pragma unroll
        for (int v = 0; v < V; v++) {
            const float r0 = p0.at[v];
            const float r1 = p1.at[v];
            // tests/programs.py:21  loss = nn.softmax_cross_entropy(model(x, training=True), t)
            const float r2 = dg_log(r0);
            const float r3 = r2 - r1;
            s4 += r3;
        }
    }
    double f4 = 0.0;
    f4 += s4;
    f4 = dg_across_x(f4, [](double &into, double value) { into += value; }, shared);
    if (lead) t0[row * gridDim.y + blockIdx.y] = (double)f4;
}
extern "C" __global__ void __launch_bounds__(512) k10_part_v4(const float *__restrict__ a0, const float *__restrict__ a1, double *t0, const dg_index n_batch) {
    k10_part_of<4>(a0, a1, t0, n_batch);
}
extern "C" __global__ void __launch_bounds__(512) k10_part_v1(const float *__restrict__ a0, const float *__restrict__ a1, double *t0, const dg_index n_batch) {
    k10_part_of<1>(a0, a1, t0, n_batch);
}

extern "C" __global__ void __launch_bounds__(512) k10_end(float *__restrict__ y0, double *t0, const dg_index n_batch) {
    __shared__ uint64_t shared[32];
    const dg_index row = blockIdx.x;
    const bool lead = threadIdx.x == 0;
    double f4 = (double)t0[row * blockDim.x + threadIdx.x];
    f4 = dg_across_x(f4, [](double &into, double value) { into += value; }, shared);
    const float r4 = (float)f4;
    // tests/programs.py:21  loss = nn.softmax_cross_entropy(model(x, training=True), t)
    const float r5 = r4 / dg_to_float32(n_batch);
    if (lead) y0[0] = r5;
}

// divide_where_multiply_add: softmax_cross_entropy tests/programs.py:21  loss = nn.softmax_cross_entropy(model(x, training=True), t)
// map over (batch, 3)
template <int V> DG_SCALAR void k11_of(const uint8_t *__restrict__ a0, const float *__restrict__ a1, const float *a2, float *y0, const dg_index n, const dg_index n_batch) {
    const dg_index p = (dg_index)blockIdx.x * blockDim.x + threadIdx.x;
    if (p >= n / V) return;
    const dg_index i1 = (p % (3 / V)) * V;
    const dg_index q1 = p / (3 / V);
    const dg_index i0 = q1;
    const float r1 = a1[i0];
    // tests/programs.py:21  loss = nn.softmax_cross_entropy(model(x, training=True), t)
    const float r3 = (-1.0f) / dg_to_float32(n_batch);
    const float r4 = 1.0f / dg_to_float32(n_batch);
    const float r6 = r4 / r1;
    const dg_pack<uint8_t, V> p0 = dg_load<V>(a0 + (i0 * 3 + i1));
    const dg_pack<float, V> p2 = dg_load<V>(a2 + (i0 * 3 + i1));
    dg_pack<float, V> w0;
    #pragma unroll
    for (int v = 0; v < V; v++) {
        const dg_bool r0 = p0.at[v];
        const float r2 = p2.at[v];
        const float r5 = r0 ? r3 : 0.0f;
        const float r7 = r6 * r2;
        const float r8 = r5 + r7;
        w0.at[v] = r8;
    }
    dg_save<V>(y0 + (i0 * 3 + i1), w0);
}
extern "C" __global__ void __launch_bounds__(256) k11_v4(const uint8_t *__restrict__ a0, const float *__restrict__ a1, const float *a2, float *y0, const dg_index n, const dg_index n_batch) {
    k11_of<4>(a0, a1, a2, y0, n, n_batch);
}
extern "C" __global__ void __launch_bounds__(256) k11_v1(const uint8_t *__restrict__ a0, const float *__restrict__ a1, const float *a2, float *y0, const dg_index n, const dg_index n_batch) {
    k11_of<1>(a0, a1, a2, y0, n, n_batch);
}

// matmul: 2 tests/programs.py:21  loss = nn.softmax_cross_entropy(model(x, training=True), t)
// call over (6, 3)
template <int V> DG_SCALAR void k12_of(const float *__restrict__ a0, const float *__restrict__ a1, float *__restrict__ y0, const dg_index n_batch) {
    __shared__ float shared[2 * DG_DEPTH * (16 * V + 1)];
    const dg_index tiles = dg_tiles<V>(6, 3);
    const dg_index tile = blockIdx.x % tiles, which = blockIdx.x / tiles;
    dg_product<V, false, true, float>(
        tile, 6, 3, 0, n_batch,
        [=](dg_index i, dg_index j) { return a0[i + j * 6]; },
        [=](dg_index i, dg_index j) { return a1[i * 3 + j]; },
        [=](dg_index i, dg_index j, float sum) { y0[i * 3 + j] = sum; }, shared);
}
extern "C" __global__ void __launch_bounds__(256,1) k12_v4(const float *__restrict__ a0, const float *__restrict__ a1, float *__restrict__ y0, const dg_index n_batch) {
    k12_of<4>(a0, a1, y0, n_batch);
}
extern "C" __global__ void __launch_bounds__(256,1) k12_v2(const float *__restrict__ a0, const float *__restrict__ a1, float *__restrict__ y0, const dg_index n_batch) {
    k12_of<2>(a0, a1, y0, n_batch);
}

template <int V> DG_SCALAR void k12_1_of(const float *__restrict__ a0, const float *__restrict__ a1, float *t0, const dg_index n_batch) {
    __shared__ float shared[2 * DG_DEPTH * (16 * V + 1)];
    const dg_index tiles = dg_tiles<V>(6, 3);
    const dg_index tile = blockIdx.x % tiles, which = blockIdx.x / tiles;
    dg_product<V, false, true, float>(
        tile, 6, 3, dg_stretch(n_batch, DG_DEPTH, blockIdx.y), dg_stretch(n_batch, DG_DEPTH, blockIdx.y + 1),
        [=](dg_index i, dg_index j) { return a0[i + j * 6]; },
        [=](dg_index i, dg_index j) { return a1[i * 3 + j]; },
        [=](dg_index i, dg_index j, float sum) { t0[blockIdx.y * (dg_index)18 + (which * 6 + i) * 3 + j] = sum; }, shared);
}
extern "C" __global__ void __launch_bounds__(256,1) k12_1_v4(const float *__restrict__ a0, const float *__restrict__ a1, float *t0, const dg_index n_batch) {
    k12_1_of<4>(a0, a1, t0, n_batch);
}
extern "C" __global__ void __launch_bounds__(256,1) k12_1_v2(const float *__restrict__ a0, const float *__restrict__ a1, float *t0, const dg_index n_batch) {
    k12_1_of<2>(a0, a1, t0, n_batch);
}

extern "C" __global__ void __launch_bounds__(256) k12_2(float *__restrict__ y0, float *t0) {
    __shared__ uint64_t shared[256];
    const dg_index p = (dg_index)blockIdx.x * blockDim.x + threadIdx.x;
    const dg_index place = dg_least(p, 18 - 1);
    const dg_index i1 = place % 3;
    const dg_index q1 = place / 3;
    const dg_index i0 = q1;
    const dg_index i = i0, j = i1;
    const float part = t0[threadIdx.y * (dg_index)18 + place];
    const float sum = dg_across_y(part, [](float &into, float value) { into += value; }, shared);
    if (p == place && threadIdx.y == 0) { y0[i * 3 + j] = sum; }
}

// multiply_sum_add: SGD.2.bias tests/programs.py:23  return {"loss": loss}, opt.updates(loss, model.parameters)
// fold over (batch, 3)
extern "C" __global__ void __launch_bounds__(512) k13(const float *a0, const float *__restrict__ a1, float *y0, int64_t *fault, const dg_index n_batch) {
    if (*fault) return;
    __shared__ uint64_t shared[512];
    const dg_index place = (dg_index)blockIdx.x * blockDim.x + threadIdx.x;
    const bool lead = place < 3 && threadIdx.y == 0;
    const dg_index row = dg_least(place, 3 - 1);
    const dg_index i1 = row;
    const float r0 = a0[i1];
    // tests/programs.py:23  return {"loss": loss}, opt.updates(loss, model.parameters)
    const float r2 = 0.9f * r0;
    float s3 = 0.0f;
    for (dg_index j = (dg_index)threadIdx.y; j < n_batch; j += blockDim.y) {
        const dg_index i0 = j;
        const float r1 = a1[i0 * 3 + i1];
        s3 += r1;
    }
    double f3 = 0.0;
    f3 += s3;
    f3 = dg_across_y(f3, [](double &into, double value) { into += value; }, shared);
    const float r3 = (float)f3;
    const float r4 = r2 + r3;
    if (lead) y0[i1] = r4;
}

extern "C" __global__ void __launch_bounds__(512) k13_part(const float *a0, const float *__restrict__ a1, double *t0, int64_t *fault, const dg_index n_batch) {
    if (*fault) return;
    __shared__ uint64_t shared[512];
    const dg_index place = (dg_index)blockIdx.x * blockDim.x + threadIdx.x;
    const bool lead = place < 3 && threadIdx.y == 0;
    const dg_index row = dg_least(place, 3 - 1);
    const dg_index i1 = row;
    const float r0 = a0[i1];
    // tests/programs.py:23  return {"loss": loss}, opt.updates(loss, model.parameters)
    const float r2 = 0.9f * r0;
    const dg_index low = dg_stretch(n_batch, 1, blockIdx.y);
    const dg_index high = dg_stretch(n_batch, 1, blockIdx.y + 1);
    float s3 = 0.0f;
    for (dg_index j = low + (dg_index)threadIdx.y; j < high; j += blockDim.y) {
        const dg_index i0 = j;
        const float r1 = a1[i0 * 3 + i1];
        s3 += r1;
    }
    double f3 = 0.0;
    f3 += s3;
    f3 = dg_across_y(f3, [](double &into, double value) { into += value; }, shared);
    if (lead) t0[row * gridDim.y + blockIdx.y] = (double)f3;
}

extern "C" __global__ void __launch_bounds__(512) k13_end(const float *a0, float *y0, double *t0, int64_t *fault) {
    if (*fault) return;
    __shared__ uint64_t shared[32];
    const dg_index row = blockIdx.x;
    const bool lead = threadIdx.x == 0;
    const dg_index i1 = row;
    const float r0 = a0[i1];
    // tests/programs.py:23  return {"loss": loss}, opt.updates(loss, model.parameters)
    const float r2 = 0.9f * r0;
    double f3 = (double)t0[row * blockDim.x + threadIdx.x];
    f3 = dg_across_x(f3, [](double &into, double value) { into += value; }, shared);
    const float r3 = (float)f3;
    const float r4 = r2 + r3;
    if (lead) y0[i1] = r4;
}

// multiply_subtract: SGD.2.bias tests/programs.py:23  return {"loss": loss}, opt.updates(loss, model.parameters)
// map over (3,)
template <int V> DG_SCALAR void k14_of(const float *__restrict__ a0, const float *__restrict__ a1, const float *a2, float *y0, int64_t *fault, const dg_index n) {
    if (*fault) return;
    const dg_index p = (dg_index)blockIdx.x * blockDim.x + threadIdx.x;
    if (p >= n / V) return;
    const dg_index i0 = p * V;
    const float r0 = a0[0];
    const dg_pack<float, V> p1 = dg_load<V>(a1 + i0);
    const dg_pack<float, V> p2 = dg_load<V>(a2 + i0);
    dg_pack<float, V> w0;
    #pragma unroll
    for (int v = 0; v < V; v++) {
        const float r1 = p1.at[v];
        const float r2 = p2.at[v];
        // tests/programs.py:23  return {"loss": loss}, opt.updates(loss, model.parameters)
        const float r3 = r0 * r1;
        const float r4 = r2 - r3;
        w0.at[v] = r4;
    }
    dg_save<V>(y0 + i0, w0);
}
extern "C" __global__ void __launch_bounds__(256) k14_v4(const float *__restrict__ a0, const float *__restrict__ a1, const float *a2, float *y0, int64_t *fault, const dg_index n) {
    k14_of<4>(a0, a1, a2, y0, fault, n);
}
extern "C" __global__ void __launch_bounds__(256) k14_v1(const float *__restrict__ a0, const float *__restrict__ a1, const float *a2, float *y0, int64_t *fault, const dg_index n) {
    k14_of<1>(a0, a1, a2, y0, fault, n);
}

// matmul: 2 tests/programs.py:21  loss = nn.softmax_cross_entropy(model(x, training=True), t)
// call over (batch, 6)
template <int V> DG_SCALAR void k15_of(const float *__restrict__ a0, const float *__restrict__ a1, float *__restrict__ y0, const dg_index n_batch) {
    __shared__ float shared[2 * DG_DEPTH * (16 * V + 1)];
    const dg_index tiles = dg_tiles<V>(n_batch, 6);
    const dg_index tile = blockIdx.x % tiles, which = blockIdx.x / tiles;
    dg_product<V, true, false, float>(
        tile, n_batch, 6, 0, 3,
        [=](dg_index i, dg_index j) { return a0[i * 3 + j]; },
        [=](dg_index i, dg_index j) { return a1[i + j * 3]; },
        [=](dg_index i, dg_index j, float sum) { y0[i * 6 + j] = sum; }, shared);
}
extern "C" __global__ void __launch_bounds__(256,1) k15_v4(const float *__restrict__ a0, const float *__restrict__ a1, float *__restrict__ y0, const dg_index n_batch) {
    k15_of<4>(a0, a1, y0, n_batch);
}
extern "C" __global__ void __launch_bounds__(256,1) k15_v2(const float *__restrict__ a0, const float *__restrict__ a1, float *__restrict__ y0, const dg_index n_batch) {
    k15_of<2>(a0, a1, y0, n_batch);
}

template <int V> DG_SCALAR void k15_1_of(const float *__restrict__ a0, const float *__restrict__ a1, float *t0, const dg_index n_batch) {
    __shared__ float shared[2 * DG_DEPTH * (16 * V + 1)];
    const dg_index tiles = dg_tiles<V>(n_batch, 6);
    const dg_index tile = blockIdx.x % tiles, which = blockIdx.x / tiles;
    dg_product<V, true, false, float>(
        tile, n_batch, 6, dg_stretch(3, DG_DEPTH, blockIdx.y), dg_stretch(3, DG_DEPTH, blockIdx.y + 1),
        [=](dg_index i, dg_index j) { return a0[i * 3 + j]; },
        [=](dg_index i, dg_index j) { return a1[i + j * 3]; },
        [=](dg_index i, dg_index j, float sum) { t0[blockIdx.y * (dg_index)(n_batch*6) + (which * n_batch + i) * 6 + j] = sum; }, shared);
}
extern "C" __global__ void __launch_bounds__(256,1) k15_1_v4(const float *__restrict__ a0, const float *__restrict__ a1, float *t0, const dg_index n_batch) {
    k15_1_of<4>(a0, a1, t0, n_batch);
}
extern "C" __global__ void __launch_bounds__(256,1) k15_1_v2(const float *__restrict__ a0, const float *__restrict__ a1, float *t0, const dg_index n_batch) {
    k15_1_of<2>(a0, a1, t0, n_batch);
}

extern "C" __global__ void __launch_bounds__(256) k15_2(float *__restrict__ y0, float *t0, const dg_index n_batch) {
    __shared__ uint64_t shared[256];
    const dg_index p = (dg_index)blockIdx.x * blockDim.x + threadIdx.x;
    const dg_index place = dg_least(p, n_batch*6 - 1);
    const dg_index i1 = place % 6;
    const dg_index q1 = place / 6;
    const dg_index i0 = q1;
    const dg_index i = i0, j = i1;
    const float part = t0[threadIdx.y * (dg_index)(n_batch*6) + place];
    const float sum = dg_across_y(part, [](float &into, float value) { into += value; }, shared);
    if (p == place && threadIdx.y == 0) { y0[i * 6 + j] = sum; }
}

// multiply_where_sum_subtract: SGD.0.bias tests/programs.py:23  return {"loss": loss}, opt.updates(loss, model.parameters)
// row over (batch, 6)
extern "C" __global__ void __launch_bounds__(512) k16(const float *a0, const uint8_t *__restrict__ a1, const float *a2, const float *__restrict__ a3, const float *a4, float *y0, float *y1, float *y2, int64_t *fault, const dg_index n_batch) {
    if (*fault) return;
    __shared__ uint64_t shared[512];
    const dg_index place = (dg_index)blockIdx.x * blockDim.x + threadIdx.x;
    const bool lead = place < 6 && threadIdx.y == 0;
    const dg_index row = dg_least(place, 6 - 1);
    const dg_index i1 = row;
    const float r0 = a0[i1];
    const float r3 = a3[0];
    const float r4 = a4[i1];
    // tests/programs.py:23  return {"loss": loss}, opt.updates(loss, model.parameters)
    const float r5 = 0.9f * r0;
    float s7 = 0.0f;
    for (dg_index j = (dg_index)threadIdx.y; place <= row && j < n_batch; j += blockDim.y) {
        const dg_index i0 = j;
        const dg_bool r1 = a1[i0 * 6 + i1];
        const float r2 = a2[i0 * 6 + i1];
        // tests/programs.py:21  loss = nn.softmax_cross_entropy(model(x, training=True), t)
        const float r6 = r1 ? r2 : 0.0f;
        s7 += r6;
        y0[i0 * 6 + i1] = r6;
    }
    double f7 = 0.0;
    f7 += s7;
    f7 = dg_across_y(f7, [](double &into, double value) { into += value; }, shared);
    const float r7 = (float)f7;
    // tests/programs.py:23  return {"loss": loss}, opt.updates(loss, model.parameters)
    const float r8 = r5 + r7;
    const float r9 = r3 * r8;
    const float r10 = r4 - r9;
    if (lead) y1[i1] = r8;
    if (lead) y2[i1] = r10;
}

// matmul: 0 tests/programs.py:21  loss = nn.softmax_cross_entropy(model(x, training=True), t)
// call over (8, 6)
template <int V> DG_SCALAR void k17_of(const float *__restrict__ a0, const float *__restrict__ a1, float *__restrict__ y0, const dg_index n_batch) {
    __shared__ float shared[2 * DG_DEPTH * (16 * V + 1)];
    const dg_index tiles = dg_tiles<V>(8, 6);
    const dg_index tile = blockIdx.x % tiles, which = blockIdx.x / tiles;
    dg_product<V, false, true, float>(
        tile, 8, 6, 0, n_batch,
        [=](dg_index i, dg_index j) { return a0[i + j * 8]; },
        [=](dg_index i, dg_index j) { return a1[i * 6 + j]; },
        [=](dg_index i, dg_index j, float sum) { y0[i * 6 + j] = sum; }, shared);
}
extern "C" __global__ void __launch_bounds__(256,1) k17_v4(const float *__restrict__ a0, const float *__restrict__ a1, float *__restrict__ y0, const dg_index n_batch) {
    k17_of<4>(a0, a1, y0, n_batch);
}
extern "C" __global__ void __launch_bounds__(256,1) k17_v2(const float *__restrict__ a0, const float *__restrict__ a1, float *__restrict__ y0, const dg_index n_batch) {
    k17_of<2>(a0, a1, y0, n_batch);
}

template <int V> DG_SCALAR void k17_1_of(const float *__restrict__ a0, const float *__restrict__ a1, float *t0, const dg_index n_batch) {
    __shared__ float shared[2 * DG_DEPTH * (16 * V + 1)];
    const dg_index tiles = dg_tiles<V>(8, 6);
    const dg_index tile = blockIdx.x % tiles, which = blockIdx.x / tiles;
    dg_product<V, false, true, float>(
        tile, 8, 6, dg_stretch(n_batch, DG_DEPTH, blockIdx.y), dg_stretch(n_batch, DG_DEPTH, blockIdx.y + 1),
        [=](dg_index i, dg_index j) { return a0[i + j * 8]; },
        [=](dg_index i, dg_index j) { return a1[i * 6 + j]; },
        [=](dg_index i, dg_index j, float sum) { t0[blockIdx.y * (dg_index)48 + (which * 8 + i) * 6 + j] = sum; }, shared);
}
extern "C" __global__ void __launch_bounds__(256,1) k17_1_v4(const float *__restrict__ a0, const float *__restrict__ a1, float *t0, const dg_index n_batch) {
    k17_1_of<4>(a0, a1, t0, n_batch);
}
extern "C" __global__ void __launch_bounds__(256,1) k17_1_v2(const float *__restrict__ a0, const float *__restrict__ a1, float *t0, const dg_index n_batch) {
    k17_1_of<2>(a0, a1, t0, n_batch);
}

extern "C" __global__ void __launch_bounds__(256) k17_2(float *__restrict__ y0, float *t0) {
    __shared__ uint64_t shared[256];
    const dg_index p = (dg_index)blockIdx.x * blockDim.x + threadIdx.x;
    const dg_index place = dg_least(p, 48 - 1);
    const dg_index i1 = place % 6;
    const dg_index q1 = place / 6;
    const dg_index i0 = q1;
    const dg_index i = i0, j = i1;
    const float part = t0[threadIdx.y * (dg_index)48 + place];
    const float sum = dg_across_y(part, [](float &into, float value) { into += value; }, shared);
    if (p == place && threadIdx.y == 0) { y0[i * 6 + j] = sum; }
}

// multiply_add_subtract: SGD.2.weight tests/programs.py:23  return {"loss": loss}, opt.updates(loss, model.parameters)
// map over (18,)
// multiply_add_subtract: SGD.0.weight tests/programs.py:23  return {"loss": loss}, opt.updates(loss, model.parameters)
// map over (48,)
template <int V> DG_SCALAR void k18_of(const float *a0, const float *__restrict__ a1, const float *__restrict__ a2, const float *a3, float *y0, float *y1, int64_t *fault, const dg_index n) {
    if (*fault) return;
    const dg_index p = (dg_index)blockIdx.x * blockDim.x + threadIdx.x;
    if (p >= n / V) return;
    const dg_index i0 = p * V;
    const float r2 = a2[0];
    const dg_pack<float, V> p0 = dg_load<V>(a0 + i0);
    const dg_pack<float, V> p1 = dg_load<V>(a1 + i0);
    const dg_pack<float, V> p3 = dg_load<V>(a3 + i0);
    dg_pack<float, V> w0;
    dg_pack<float, V> w1;
    #pragma unroll
    for (int v = 0; v < V; v++) {
        const float r0 = p0.at[v];
        const float r1 = p1.at[v];
        const float r3 = p3.at[v];
        // tests/programs.py:23  return {"loss": loss}, opt.updates(loss, model.parameters)
        const float r4 = 0.9f * r0;
        const float r5 = r4 + r1;
        const float r6 = r2 * r5;
        const float r7 = r3 - r6;
        w0.at[v] = r5;
        w1.at[v] = r7;
    }
    dg_save<V>(y0 + i0, w0);
    dg_save<V>(y1 + i0, w1);
}
extern "C" __global__ void __launch_bounds__(256) k18_v4(const float *a0, const float *__restrict__ a1, const float *__restrict__ a2, const float *a3, float *y0, float *y1, int64_t *fault, const dg_index n) {
    k18_of<4>(a0, a1, a2, a3, y0, y1, fault, n);
}
extern "C" __global__ void __launch_bounds__(256) k18_v1(const float *a0, const float *__restrict__ a1, const float *__restrict__ a2, const float *a3, float *y0, float *y1, int64_t *fault, const dg_index n) {
    k18_of<1>(a0, a1, a2, a3, y0, y1, fault, n);
}

p0_weight, p0_bias, p2_weight, p2_bias, iteration, momentum_0_weight, lr, momentum_0_bias, momentum_2_weight, momentum_2_bias, = parameters
c0, = constants
v0 = slot(0, (batch,), 'int64')
v1 = slot(1, (batch, 3), 'bool')
v2 = slot(2, (batch, 6), 'float32')
t3 = slot(3, (min(batch*3, 32768)*32,), 'float32')
t0 = slot(3, (min(batch*3, 32768)*32,), 'float32')
v3 = slot(2, (batch, 6), 'float32')
v4 = slot(4, (batch, 6), 'bool')
v5 = slot(5, (batch, 3), 'float32')
t6 = slot(6, (min(batch*3, 65536)*16,), 'float32')
t1 = slot(6, (min(batch*3, 65536)*16,), 'float32')
v6 = slot(5, (batch, 3), 'float32')
v7 = slot(7, (batch, 1), 'float32')
t8 = slot(8, (min(batch, 128)*512,), 'float64')
v8 = slot(5, (batch, 3), 'float32')
v9 = slot(9, (batch, 1), 'float32')
t10 = slot(10, (min(batch, 128)*512,), 'float64')
t11 = slot(11, (512,), 'float64')
v10 = slot(5, (batch, 3), 'float32')
v11 = slot(12, (6, 3), 'float32')
t13 = slot(13, (288,), 'float32')
v3_ = view(v3, (6, batch), (1, 6))
t2 = slot(13, (288,), 'float32')
t14 = slot(14, (1536,), 'float64')
v12 = slot(15, (batch, 6), 'float32')
t16 = slot(16, (min(batch*3, 32768)*32,), 'float32')
p2_weight_ = view(p2_weight, (3, 6), (1, 3))
t4 = slot(16, (min(batch*3, 32768)*32,), 'float32')
v13 = slot(15, (batch, 6), 'float32')
v14 = slot(17, (8, 6), 'float32')
t18 = slot(18, (768,), 'float32')
t5 = slot(18, (768,), 'float32')


def step(x, t, out_loss):
    x_ = view(x, (8, batch), (1, 8))
    # check_index: softmax_cross_entropy tests/programs.py:21  loss = nn.softmax_cross_entropy(model(x, training=True), t)
    k0(t, v0)
    # equal: softmax_cross_entropy tests/programs.py:21  loss = nn.softmax_cross_entropy(model(x, training=True), t)
    k1(v0, c0, v1)
    # add: SGD tests/programs.py:23  return {"loss": loss}, opt.updates(loss, model.parameters)
    k2(iteration, iteration)
    # matmul: 0 tests/programs.py:21  loss = nn.softmax_cross_entropy(model(x, training=True), t)
    if k3:
        k3(x, p0_weight, v2, t3)
    else:
        cp.matmul(x, p0_weight, out=v2)
    # add_relu_greater: tests/programs.py:21  loss = nn.softmax_cross_entropy(model(x, training=True), t)
    k4(v2, p0_bias, v3, v4)
    # matmul: 2 tests/programs.py:21  loss = nn.softmax_cross_entropy(model(x, training=True), t)
    if k5:
        k5(v3, p2_weight, v5, t6)
    else:
        cp.matmul(v3, p2_weight, out=v5)
    # add_max_subtract: softmax_cross_entropy tests/programs.py:21  loss = nn.softmax_cross_entropy(model(x, training=True), t)
    k6(v5, p2_bias, v6)
    # where_sum: softmax_cross_entropy tests/programs.py:21  loss = nn.softmax_cross_entropy(model(x, training=True), t)
    k7(v1, v6, v7, t8)
    # exp: softmax_cross_entropy tests/programs.py:21  loss = nn.softmax_cross_entropy(model(x, training=True), t)
    k8(v6, v8)
    # sum: softmax_cross_entropy tests/programs.py:21  loss = nn.softmax_cross_entropy(model(x, training=True), t)
    k9(v8, v9, t10)
    # log_subtract_sum_divide: softmax_cross_entropy tests/programs.py:21  loss = nn.softmax_cross_entropy(model(x, training=True), t)
    k10(v9, v7, out_loss, t11)
    # divide_where_multiply_add: softmax_cross_entropy tests/programs.py:21  loss = nn.softmax_cross_entropy(model(x, training=True), t)
    k11(v1, v9, v8, v10)
    # matmul: 2 tests/programs.py:21  loss = nn.softmax_cross_entropy(model(x, training=True), t)
    if k12:
        k12(v3, v10, v11, t13)
    else:
        cp.matmul(v3_, v10, out=v11)
    # multiply_sum_add: SGD.2.bias tests/programs.py:23  return {"loss": loss}, opt.updates(loss, model.parameters)
    k13(momentum_2_bias, v10, momentum_2_bias, t14)
    # multiply_subtract: SGD.2.bias tests/programs.py:23  return {"loss": loss}, opt.updates(loss, model.parameters)
    k14(lr, momentum_2_bias, p2_bias, p2_bias)
    # matmul: 2 tests/programs.py:21  loss = nn.softmax_cross_entropy(model(x, training=True), t)
    if k15:
        k15(v10, p2_weight, v12, t16)
    else:
        cp.matmul(v10, p2_weight_, out=v12)
    # multiply_where_sum_subtract: SGD.0.bias tests/programs.py:23  return {"loss": loss}, opt.updates(loss, model.parameters)
    k16(momentum_0_bias, v4, v12, lr, p0_bias, v13, momentum_0_bias, p0_bias)
    # matmul: 0 tests/programs.py:21  loss = nn.softmax_cross_entropy(model(x, training=True), t)
    if k17:
        k17(x, v13, v14, t18)
    else:
        cp.matmul(x_, v13, out=v14)
    # multiply_add_subtract: SGD.2.weight tests/programs.py:23  return {"loss": loss}, opt.updates(loss, model.parameters)
    k18(momentum_2_weight, v11, lr, p2_weight, momentum_2_weight, p2_weight)
    # multiply_add_subtract: SGD.0.weight tests/programs.py:23  return {"loss": loss}, opt.updates(loss, model.parameters)
    k19(momentum_0_weight, v14, lr, p0_weight, momentum_0_weight, p0_weight)


def finish():
    bad = fault()
    if bad and bad[0] == 1: raise lib.bad_value(bad[1], bad[2], 'target')  # of k0
