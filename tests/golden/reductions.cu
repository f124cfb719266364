// multiply_max_isfinite_copy: tests/programs.py:99  "logsumexp": dg.logsumexp(x * 0.5), "count": dg.count_nonzero(k > 2),
// fold over (n*12,)
template <int V> DG_SCALAR void k0_of(const float *__restrict__ a0, float *__restrict__ y0, const dg_index n_n) {
    __shared__ uint64_t shared[32];
    const dg_index place = (dg_index)blockIdx.x * blockDim.y + threadIdx.y;
    const bool lead = place < 1 && threadIdx.x == 0;
    const dg_index row = dg_least(place, 1 - 1);
    float s2 = (-INFINITY);
    int n2 = 0;
    for (dg_index j = (dg_index)threadIdx.x * V; j < n_n*12; j += blockDim.x * V) {
        const dg_index i0 = j;
        const dg_pack<float, V> p0 = dg_load<V>(a0 + i0);
        #pragma unroll
        for (int v = 0; v < V; v++) {
            const float r0 = p0.at[v];
            // tests/programs.py:99  "logsumexp": dg.logsumexp(x * 0.5), "count": dg.count_nonzero(k > 2),
            const float r1 = r0 * 0.5f;
            s2 = r1 > s2 ? r1 : s2;
            n2 |= r1 != r1;
        }
    }
    float f2 = (-INFINITY);
    f2 = dg_maximum(f2, (n2 ? (float)NAN : s2));
    f2 = dg_across_x(f2, [](float &into, float value) { into = dg_maximum(into, value); }, shared);
    const float r2 = (float)f2;
    const dg_bool r3 = dg_isfinite(r2);
    const float r4 = r3 ? r2 : 0.0f;
    float s7 = 0.0f;
    for (dg_index j = (dg_index)threadIdx.x * V; j < n_n*12; j += blockDim.x * V) {
        const dg_index i0 = j;
        const dg_pack<float, V> p0 = dg_load<V>(a0 + i0);
        #pragma unroll
        for (int v = 0; v < V; v++) {
            const float r0 = p0.at[v];
            const float r1 = r0 * 0.5f;
            const float r5 = r1 - r4;
            const float r6 = dg_exp(r5);
            s7 += r6;
        }
    }
    double f7 = 0.0;
    f7 += s7;
    f7 = dg_across_x(f7, [](double &into, double value) { into += value; }, shared);
    const float r7 = (float)f7;
    const dg_bool r8 = dg_not_equal(r7, 0.0f);
    const float r9 = dg_log(r7);
    const float r10 = r8 ? r9 : (-INFINITY);
    const float r11 = r10 + r4;
    const float r12 = r11;
    if (lead) y0[0] = r12;
}
extern "C" __global__ void __launch_bounds__(512) k0_v4(const float *__restrict__ a0, float *__restrict__ y0, const dg_index n_n) {
    k0_of<4>(a0, y0, n_n);
}
extern "C" __global__ void __launch_bounds__(512) k0_v1(const float *__restrict__ a0, float *__restrict__ y0, const dg_index n_n) {
    k0_of<1>(a0, y0, n_n);
}

// greater_not_equal_sum: tests/programs.py:99  "logsumexp": dg.logsumexp(x * 0.5), "count": dg.count_nonzero(k > 2),
// fold over (n,)
template <int V> DG_SCALAR void k1_of(const int32_t *__restrict__ a0, int64_t *__restrict__ y0, const dg_index n_n) {
    __shared__ uint64_t shared[32];
    const dg_index place = (dg_index)blockIdx.x * blockDim.y + threadIdx.y;
    const bool lead = place < 1 && threadIdx.x == 0;
    const dg_index row = dg_least(place, 1 - 1);
    int64_t s3 = INT64_C(0);
    for (dg_index j = (dg_index)threadIdx.x * V; j < n_n; j += blockDim.x * V) {
        const dg_index i0 = j;
        const dg_pack<int32_t, V> p0 = dg_load<V>(a0 + i0);
        #pragma unroll
        for (int v = 0; v < V; v++) {
            const int32_t r0 = p0.at[v];
            // tests/programs.py:99  "logsumexp": dg.logsumexp(x * 0.5), "count": dg.count_nonzero(k > 2),
            const dg_bool r1 = dg_greater(r0, (int32_t)2);
            const dg_bool r2 = dg_not_equal(dg_to_int64(r1), INT64_C(0));
            s3 += r2;
        }
    }
    int64_t f3 = INT64_C(0);
    f3 += s3;
    f3 = dg_across_x(f3, [](int64_t &into, int64_t value) { into += value; }, shared);
    const int64_t r3 = (int64_t)f3;
    if (lead) y0[0] = r3;
}
extern "C" __global__ void __launch_bounds__(512) k1_v4(const int32_t *__restrict__ a0, int64_t *__restrict__ y0, const dg_index n_n) {
    k1_of<4>(a0, y0, n_n);
}
extern "C" __global__ void __launch_bounds__(512) k1_v1(const int32_t *__restrict__ a0, int64_t *__restrict__ y0, const dg_index n_n) {
    k1_of<1>(a0, y0, n_n);
}

template <int V> DG_SCALAR void k1_part_of(const int32_t *__restrict__ a0, int64_t *t0, const dg_index n_n) {
    __shared__ uint64_t shared[32];
    const dg_index place = (dg_index)blockIdx.x * blockDim.y + threadIdx.y;
    const bool lead = place < 1 && threadIdx.x == 0;
    const dg_index row = dg_least(place, 1 - 1);
    const dg_index low = dg_stretch(n_n, V, blockIdx.y);
    const dg_index high = dg_stretch(n_n, V, blockIdx.y + 1);
    int64_t s3 = INT64_C(0);
    for (dg_index j = low + (dg_index)threadIdx.x * V; j < high; j += blockDim.x * V) {
        const dg_index i0 = j;
        const dg_pack<int32_t, V> p0 = dg_load<V>(a0 + i0);
        #pragma unroll
        for (int v = 0; v < V; v++) {
            const int32_t r0 = p0.at[v];
            // tests/programs.py:99  "logsumexp": dg.logsumexp(x * 0.5), "count": dg.count_nonzero(k > 2),
            const dg_bool r1 = dg_greater(r0, (int32_t)2);
            const dg_bool r2 = dg_not_equal(dg_to_int64(r1), INT64_C(0));
            s3 += r2;
        }
    }
    int64_t f3 = INT64_C(0);
    f3 += s3;
    f3 = dg_across_x(f3, [](int64_t &into, int64_t value) { into += value; }, shared);
    if (lead) t0[row * gridDim.y + blockIdx.y] = (int64_t)f3;
}
extern "C" __global__ void __launch_bounds__(512) k1_part_v4(const int32_t *__restrict__ a0, int64_t *t0, const dg_index n_n) {
    k1_part_of<4>(a0, t0, n_n);
}
extern "C" __global__ void __launch_bounds__(512) k1_part_v1(const int32_t *__restrict__ a0, int64_t *t0, const dg_index n_n) {
    k1_part_of<1>(a0, t0, n_n);
}

extern "C" __global__ void __launch_bounds__(512) k1_end(int64_t *__restrict__ y0, int64_t *t0) {
    __shared__ uint64_t shared[32];
    const dg_index row = blockIdx.x;
    const bool lead = threadIdx.x == 0;
    int64_t f3 = (int64_t)t0[row * blockDim.x + threadIdx.x];
    f3 = dg_across_x(f3, [](int64_t &into, int64_t value) { into += value; }, shared);
    const int64_t r3 = (int64_t)f3;
    if (lead) y0[0] = r3;
}

// sum_add: tests/programs.py:100  "total": dg.sum(k) + 1, "any": dg.any(x > 1, 0),
// fold over (n,)
template <int V> DG_SCALAR void k2_of(const int32_t *__restrict__ a0, int64_t *__restrict__ y0, const dg_index n_n) {
    __shared__ uint64_t shared[32];
    const dg_index place = (dg_index)blockIdx.x * blockDim.y + threadIdx.y;
    const bool lead = place < 1 && threadIdx.x == 0;
    const dg_index row = dg_least(place, 1 - 1);
    int64_t s1 = INT64_C(0);
    for (dg_index j = (dg_index)threadIdx.x * V; j < n_n; j += blockDim.x * V) {
        const dg_index i0 = j;
        const dg_pack<int32_t, V> p0 = dg_load<V>(a0 + i0);
        #pragma unroll
        for (int v = 0; v < V; v++) {
            const int32_t r0 = p0.at[v];
            s1 += r0;
        }
    }
    int64_t f1 = INT64_C(0);
    f1 += s1;
    f1 = dg_across_x(f1, [](int64_t &into, int64_t value) { into += value; }, shared);
    const int64_t r1 = (int64_t)f1;
    // tests/programs.py:100  "total": dg.sum(k) + 1, "any": dg.any(x > 1, 0),
    const int64_t r2 = r1 + INT64_C(1);
    if (lead) y0[0] = r2;
}
extern "C" __global__ void __launch_bounds__(512) k2_v4(const int32_t *__restrict__ a0, int64_t *__restrict__ y0, const dg_index n_n) {
    k2_of<4>(a0, y0, n_n);
}
extern "C" __global__ void __launch_bounds__(512) k2_v1(const int32_t *__restrict__ a0, int64_t *__restrict__ y0, const dg_index n_n) {
    k2_of<1>(a0, y0, n_n);
}

template <int V> DG_SCALAR void k2_part_of(const int32_t *__restrict__ a0, int64_t *t0, const dg_index n_n) {
    __shared__ uint64_t shared[32];
    const dg_index place = (dg_index)blockIdx.x * blockDim.y + threadIdx.y;
    const bool lead = place < 1 && threadIdx.x == 0;
    const dg_index row = dg_least(place, 1 - 1);
    const dg_index low = dg_stretch(n_n, V, blockIdx.y);
    const dg_index high = dg_stretch(n_n, V, blockIdx.y + 1);
    int64_t s1 = INT64_C(0);
    for (dg_index j = low + (dg_index)threadIdx.x * V; j < high; j += blockDim.x * V) {
        const dg_index i0 = j;
        const dg_pack<int32_t, V> p0 = dg_load<V>(a0 + i0);
        #pragma unroll
        for (int v = 0; v < V; v++) {
            const int32_t r0 = p0.at[v];
            s1 += r0;
        }
    }
    int64_t f1 = INT64_C(0);
    f1 += s1;
    f1 = dg_across_x(f1, [](int64_t &into, int64_t value) { into += value; }, shared);
    if (lead) t0[row * gridDim.y + blockIdx.y] = (int64_t)f1;
}
extern "C" __global__ void __launch_bounds__(512) k2_part_v4(const int32_t *__restrict__ a0, int64_t *t0, const dg_index n_n) {
    k2_part_of<4>(a0, t0, n_n);
}
extern "C" __global__ void __launch_bounds__(512) k2_part_v1(const int32_t *__restrict__ a0, int64_t *t0, const dg_index n_n) {
    k2_part_of<1>(a0, t0, n_n);
}

extern "C" __global__ void __launch_bounds__(512) k2_end(int64_t *__restrict__ y0, int64_t *t0) {
    __shared__ uint64_t shared[32];
    const dg_index row = blockIdx.x;
    const bool lead = threadIdx.x == 0;
    int64_t f1 = (int64_t)t0[row * blockDim.x + threadIdx.x];
    f1 = dg_across_x(f1, [](int64_t &into, int64_t value) { into += value; }, shared);
    const int64_t r1 = (int64_t)f1;
    // tests/programs.py:100  "total": dg.sum(k) + 1, "any": dg.any(x > 1, 0),
    const int64_t r2 = r1 + INT64_C(1);
    if (lead) y0[0] = r2;
}

// sum_divide: tests/programs.py:98  "mean": dg.mean(x, (0, 2)), "std": dg.std(x, 1, keepdims=True), "best": dg.argmax(x, -1),
// fold over (n, 3, 4)
template <int V> DG_SCALAR void k3_of(const float *__restrict__ a0, float *__restrict__ y0, const dg_index n_n) {
    __shared__ uint64_t shared[32];
    const dg_index place = (dg_index)blockIdx.x * blockDim.y + threadIdx.y;
    const bool lead = place < 3 && threadIdx.x == 0;
    const dg_index row = dg_least(place, 3 - 1);
    const dg_index i1 = row;
    float s1 = 0.0f;
    for (dg_index j = (dg_index)threadIdx.x * V; j < n_n*4; j += blockDim.x * V) {
        const dg_index i2 = j % 4;
        const dg_index q2 = j / 4;
        const dg_index i0 = q2;
        const dg_pack<float, V> p0 = dg_load<V>(a0 + (i0 * 12 + i1 * 4 + i2));
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
    // tests/programs.py:98  "mean": dg.mean(x, (0, 2)), "std": dg.std(x, 1, keepdims=True), "best": dg.argmax(x, -1),
    const float r2 = r1 / dg_to_float32(n_n*4);
    if (lead) y0[i1] = r2;
}
extern "C" __global__ void __launch_bounds__(512) k3_v4(const float *__restrict__ a0, float *__restrict__ y0, const dg_index n_n) {
    k3_of<4>(a0, y0, n_n);
}
extern "C" __global__ void __launch_bounds__(512) k3_v1(const float *__restrict__ a0, float *__restrict__ y0, const dg_index n_n) {
    k3_of<1>(a0, y0, n_n);
}

template <int V> DG_SCALAR void k3_part_of(const float *__restrict__ a0, double *t0, const dg_index n_n) {
    __shared__ uint64_t shared[32];
    const dg_index place = (dg_index)blockIdx.x * blockDim.y + threadIdx.y;
    const bool lead = place < 3 && threadIdx.x == 0;
    const dg_index row = dg_least(place, 3 - 1);
    const dg_index i1 = row;
    const dg_index low = dg_stretch(n_n*4, V, blockIdx.y);
    const dg_index high = dg_stretch(n_n*4, V, blockIdx.y + 1);
    float s1 = 0.0f;
    for (dg_index j = low + (dg_index)threadIdx.x * V; j < high; j += blockDim.x * V) {
        const dg_index i2 = j % 4;
        const dg_index q2 = j / 4;
        const dg_index i0 = q2;
        const dg_pack<float, V> p0 = dg_load<V>(a0 + (i0 * 12 + i1 * 4 + i2));
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
extern "C" __global__ void __launch_bounds__(512) k3_part_v4(const float *__restrict__ a0, double *t0, const dg_index n_n) {
    k3_part_of<4>(a0, t0, n_n);
}
extern "C" __global__ void __launch_bounds__(512) k3_part_v1(const float *__restrict__ a0, double *t0, const dg_index n_n) {
    k3_part_of<1>(a0, t0, n_n);
}

extern "C" __global__ void __launch_bounds__(512) k3_end(float *__restrict__ y0, double *t0, const dg_index n_n) {
    __shared__ uint64_t shared[32];
    const dg_index row = blockIdx.x;
    const bool lead = threadIdx.x == 0;
    const dg_index i1 = row;
    double f1 = (double)t0[row * blockDim.x + threadIdx.x];
    f1 = dg_across_x(f1, [](double &into, double value) { into += value; }, shared);
    const float r1 = (float)f1;
    // tests/programs.py:98  "mean": dg.mean(x, (0, 2)), "std": dg.std(x, 1, keepdims=True), "best": dg.argmax(x, -1),
    const float r2 = r1 / dg_to_float32(n_n*4);
    if (lead) y0[i1] = r2;
}

// greater_any: tests/programs.py:100  "total": dg.sum(k) + 1, "any": dg.any(x > 1, 0),
// fold over (n, 12)
extern "C" __global__ void __launch_bounds__(512) k4(const float *__restrict__ a0, uint8_t *__restrict__ y0, const dg_index n_n) {
    __shared__ uint64_t shared[512];
    const dg_index place = (dg_index)blockIdx.x * blockDim.x + threadIdx.x;
    const bool lead = place < 12 && threadIdx.y == 0;
    const dg_index row = dg_least(place, 12 - 1);
    const dg_index i1 = row;
    dg_bool s2 = 0;
    for (dg_index j = (dg_index)threadIdx.y; j < n_n; j += blockDim.y) {
        const dg_index i0 = j;
        const float r0 = a0[i0 * 12 + i1];
        // tests/programs.py:100  "total": dg.sum(k) + 1, "any": dg.any(x > 1, 0),
        const dg_bool r1 = dg_greater(r0, 1.0f);
        s2 |= r1 != 0;
    }
    dg_bool f2 = 0;
    f2 |= s2 != 0;
    f2 = dg_across_y(f2, [](dg_bool &into, dg_bool value) { into |= value != 0; }, shared);
    const dg_bool r2 = (dg_bool)f2;
    if (lead) y0[i1] = r2;
}

extern "C" __global__ void __launch_bounds__(512) k4_part(const float *__restrict__ a0, uint8_t *t0, const dg_index n_n) {
    __shared__ uint64_t shared[512];
    const dg_index place = (dg_index)blockIdx.x * blockDim.x + threadIdx.x;
    const bool lead = place < 12 && threadIdx.y == 0;
    const dg_index row = dg_least(place, 12 - 1);
    const dg_index i1 = row;
    const dg_index low = dg_stretch(n_n, 1, blockIdx.y);
    const dg_index high = dg_stretch(n_n, 1, blockIdx.y + 1);
    dg_bool s2 = 0;
    for (dg_index j = low + (dg_index)threadIdx.y; j < high; j += blockDim.y) {
        const dg_index i0 = j;
        const float r0 = a0[i0 * 12 + i1];
        // tests/programs.py:100  "total": dg.sum(k) + 1, "any": dg.any(x > 1, 0),
        const dg_bool r1 = dg_greater(r0, 1.0f);
        s2 |= r1 != 0;
    }
    dg_bool f2 = 0;
    f2 |= s2 != 0;
    f2 = dg_across_y(f2, [](dg_bool &into, dg_bool value) { into |= value != 0; }, shared);
    if (lead) t0[row * gridDim.y + blockIdx.y] = (uint8_t)f2;
}

extern "C" __global__ void __launch_bounds__(512) k4_end(uint8_t *__restrict__ y0, uint8_t *t0) {
    __shared__ uint64_t shared[32];
    const dg_index row = blockIdx.x;
    const bool lead = threadIdx.x == 0;
    const dg_index i1 = row;
    dg_bool f2 = (dg_bool)t0[row * blockDim.x + threadIdx.x];
    f2 = dg_across_x(f2, [](dg_bool &into, dg_bool value) { into |= value != 0; }, shared);
    const dg_bool r2 = (dg_bool)f2;
    if (lead) y0[i1] = r2;
}

// sum_divide_subtract_where: tests/programs.py:98  "mean": dg.mean(x, (0, 2)), "std": dg.std(x, 1, keepdims=True), "best": dg.argmax(x, -1),
// fold over (n, 3, 4)
extern "C" __global__ void __launch_bounds__(512) k5(const float *__restrict__ a0, float *__restrict__ y0, const dg_index n_n) {
    __shared__ uint64_t shared[512];
    const dg_index place = (dg_index)blockIdx.x * blockDim.x + threadIdx.x;
    const bool lead = place < n_n*4 && threadIdx.y == 0;
    const dg_index row = dg_least(place, n_n*4 - 1);
    const dg_index i2 = row % 4;
    const dg_index q2 = row / 4;
    const dg_index i0 = q2;
    float s1 = 0.0f;
    for (dg_index j = (dg_index)threadIdx.y; j < 3; j += blockDim.y) {
        const dg_index i1 = j;
        const float r0 = a0[i0 * 12 + i1 * 4 + i2];
        s1 += r0;
    }
    double f1 = 0.0;
    f1 += s1;
    f1 = dg_across_y(f1, [](double &into, double value) { into += value; }, shared);
    const float r1 = (float)f1;
    // tests/programs.py:98  "mean": dg.mean(x, (0, 2)), "std": dg.std(x, 1, keepdims=True), "best": dg.argmax(x, -1),
    const float r2 = r1 / 3.0f;
    float s5 = 0.0f;
    for (dg_index j = (dg_index)threadIdx.y; j < 3; j += blockDim.y) {
        const dg_index i1 = j;
        const float r0 = a0[i0 * 12 + i1 * 4 + i2];
        const float r3 = r0 - r2;
        const float r4 = r3 * r3;
        s5 += r4;
    }
    double f5 = 0.0;
    f5 += s5;
    f5 = dg_across_y(f5, [](double &into, double value) { into += value; }, shared);
    const float r5 = (float)f5;
    const float r6 = r5 / 3.0f;
    const dg_bool r7 = dg_greater(r6, 0.0f);
    const float r8 = dg_sqrt(r6);
    const float r9 = r7 ? r8 : r6;
    if (lead) y0[i0 * 4 + i2] = r9;
}

// argmax: tests/programs.py:98  "mean": dg.mean(x, (0, 2)), "std": dg.std(x, 1, keepdims=True), "best": dg.argmax(x, -1),
// call over (n, 3)
extern "C" __global__ void __launch_bounds__(256) k6(const float *__restrict__ a0, int64_t *__restrict__ y0, const dg_index n_n) {
    const dg_index place = (dg_index)blockIdx.x * blockDim.y + threadIdx.y;
    const bool live = place < n_n*3;
    const dg_index row = dg_least(place, n_n*3 - 1);
    const dg_index i1 = row % 3;
    const dg_index q1 = row / 3;
    const dg_index i0 = q1;
    __shared__ uint64_t shared[32];
    float best = (-INFINITY);
    dg_index where = 0;
    for (dg_index j = threadIdx.x; j < 4; j += blockDim.x) {
        const dg_index i2 = j;
        const float x = a0[i0 * 12 + i1 * 4 + i2];
        if (best == best && (x > best || x != x)) best = x, where = j;
    }
    const float top = dg_across_x(best, [](float &into, float value) { if (into == into && (value > into || value != value)) into = value; }, shared);
    if (best != top && (best == best || top == top)) where = 4;
    where = dg_across_x(where, [](dg_index &into, dg_index value) { into = dg_least(into, value); }, shared);
    if (live && threadIdx.x == 0)
    y0[i0 * 3 + i1] = where;
}

t0 = slot(0, (512,), 'int64')
t1 = slot(1, (512,), 'int64')
t2 = slot(2, (1536,), 'float64')
t3 = slot(3, (6144,), 'uint8')


def step(x, k, out_mean, out_std, out_best, out_logsumexp, out_count, out_total, out_any):
    # multiply_max_isfinite_copy: tests/programs.py:99  "logsumexp": dg.logsumexp(x * 0.5), "count": dg.count_nonzero(k > 2),
    k0(x, out_logsumexp)
    # greater_not_equal_sum: tests/programs.py:99  "logsumexp": dg.logsumexp(x * 0.5), "count": dg.count_nonzero(k > 2),
    k1(k, out_count, t0)
    # sum_add: tests/programs.py:100  "total": dg.sum(k) + 1, "any": dg.any(x > 1, 0),
    k2(k, out_total, t1)
    # sum_divide: tests/programs.py:98  "mean": dg.mean(x, (0, 2)), "std": dg.std(x, 1, keepdims=True), "best": dg.argmax(x, -1),
    k3(x, out_mean, t2)
    # greater_any: tests/programs.py:100  "total": dg.sum(k) + 1, "any": dg.any(x > 1, 0),
    k4(x, out_any, t3)
    # sum_divide_subtract_where: tests/programs.py:98  "mean": dg.mean(x, (0, 2)), "std": dg.std(x, 1, keepdims=True), "best": dg.argmax(x, -1),
    k5(x, out_std)
    # argmax: tests/programs.py:98  "mean": dg.mean(x, (0, 2)), "std": dg.std(x, 1, keepdims=True), "best": dg.argmax(x, -1),
    k6(x, out_best)
