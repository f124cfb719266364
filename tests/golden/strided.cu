// sum_divide: tests/programs.py:79  means = dg.mean(dg.windows(x, 1, 3, stride=2), -1)
// fold over (n, 3, 3)
template <int V> DG_SCALAR void k0_of(const float *__restrict__ a0, float *__restrict__ y0, const dg_index n_n) {
    __shared__ uint64_t shared[32];
    const dg_index place = (dg_index)blockIdx.x * blockDim.y + threadIdx.y;
    const bool lead = place < n_n*3 && threadIdx.x == 0;
    const dg_index row = dg_least(place, n_n*3 - 1);
    const dg_index i1 = row % 3;
    const dg_index q1 = row / 3;
    const dg_index i0 = q1;
    float s1 = 0.0f;
    for (dg_index j = (dg_index)threadIdx.x * V; j < 3; j += blockDim.x * V) {
        const dg_index i2 = j;
        const dg_pack<float, V> p0 = dg_load<V>(a0 + (i0 * 8 + i1 * 2 + i2));
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
    // tests/programs.py:79  means = dg.mean(dg.windows(x, 1, 3, stride=2), -1)
    const float r2 = r1 / 3.0f;
    if (lead) y0[i0 * 3 + i1] = r2;
}
extern "C" __global__ void __launch_bounds__(512) k0_v4(const float *__restrict__ a0, float *__restrict__ y0, const dg_index n_n) {
    k0_of<4>(a0, y0, n_n);
}
extern "C" __global__ void __launch_bounds__(512) k0_v1(const float *__restrict__ a0, float *__restrict__ y0, const dg_index n_n) {
    k0_of<1>(a0, y0, n_n);
}

template <int V> DG_SCALAR void k0_part_of(const float *__restrict__ a0, double *t0, const dg_index n_n) {
    __shared__ uint64_t shared[32];
    const dg_index place = (dg_index)blockIdx.x * blockDim.y + threadIdx.y;
    const bool lead = place < n_n*3 && threadIdx.x == 0;
    const dg_index row = dg_least(place, n_n*3 - 1);
    const dg_index i1 = row % 3;
    const dg_index q1 = row / 3;
    const dg_index i0 = q1;
    const dg_index low = dg_stretch(3, V, blockIdx.y);
    const dg_index high = dg_stretch(3, V, blockIdx.y + 1);
    float s1 = 0.0f;
    for (dg_index j = low + (dg_index)threadIdx.x * V; j < high; j += blockDim.x * V) {
        const dg_index i2 = j;
        const dg_pack<float, V> p0 = dg_load<V>(a0 + (i0 * 8 + i1 * 2 + i2));
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
extern "C" __global__ void __launch_bounds__(512) k0_part_v4(const float *__restrict__ a0, double *t0, const dg_index n_n) {
    k0_part_of<4>(a0, t0, n_n);
}
extern "C" __global__ void __launch_bounds__(512) k0_part_v1(const float *__restrict__ a0, double *t0, const dg_index n_n) {
    k0_part_of<1>(a0, t0, n_n);
}

extern "C" __global__ void __launch_bounds__(512) k0_end(float *__restrict__ y0, double *t0) {
    __shared__ uint64_t shared[32];
    const dg_index row = blockIdx.x;
    const bool lead = threadIdx.x == 0;
    const dg_index i1 = row % 3;
    const dg_index q1 = row / 3;
    const dg_index i0 = q1;
    double f1 = (double)t0[row * blockDim.x + threadIdx.x];
    f1 = dg_across_x(f1, [](double &into, double value) { into += value; }, shared);
    const float r1 = (float)f1;
    // tests/programs.py:79  means = dg.mean(dg.windows(x, 1, 3, stride=2), -1)
    const float r2 = r1 / 3.0f;
    if (lead) y0[i0 * 3 + i1] = r2;
}

// multiply: tests/programs.py:82  return {"means": means, "product": spread * means[0], "every": x[::2, ::-3]}, None
// map over (3,)
template <int V> DG_SCALAR void k1_of(const float *__restrict__ a0, const float *__restrict__ a1, float *__restrict__ y0, const dg_index n) {
    const dg_index p = (dg_index)blockIdx.x * blockDim.x + threadIdx.x;
    if (p >= n / V) return;
    const dg_index i0 = p * V;
    const dg_pack<float, V> p0 = dg_load<V>(a0 + i0);
    const dg_pack<float, V> p1 = dg_load<V>(a1 + i0);
    dg_pack<float, V> w0;
    #pragma unroll
    for (int v = 0; v < V; v++) {
        const float r0 = p0.at[v];
        const float r1 = p1.at[v];
        // tests/programs.py:82  return {"means": means, "product": spread * means[0], "every": x[::2, ::-3]}, None
        const float r2 = r0 * r1;
        w0.at[v] = r2;
    }
    dg_save<V>(y0 + i0, w0);
}
extern "C" __global__ void __launch_bounds__(256) k1_v4(const float *__restrict__ a0, const float *__restrict__ a1, float *__restrict__ y0, const dg_index n) {
    k1_of<4>(a0, a1, y0, n);
}
extern "C" __global__ void __launch_bounds__(256) k1_v1(const float *__restrict__ a0, const float *__restrict__ a1, float *__restrict__ y0, const dg_index n) {
    k1_of<1>(a0, a1, y0, n);
}

// copy: tests/programs.py:82  return {"means": means, "product": spread * means[0], "every": x[::2, ::-3]}, None
// map over (2, 3)
template <int V> DG_SCALAR void k2_of(const float *__restrict__ a0, float *__restrict__ y0, const dg_index n) {
    const dg_index p = (dg_index)blockIdx.x * blockDim.x + threadIdx.x;
    if (p >= n / V) return;
    const dg_index i1 = (p % (3 / V)) * V;
    const dg_index q1 = p / (3 / V);
    const dg_index i0 = q1;
    const dg_pack<float, V> p0 = dg_load<V>(a0 + i1);
    dg_pack<float, V> w0;
    #pragma unroll
    for (int v = 0; v < V; v++) {
        const float r0 = p0.at[v];
        // tests/programs.py:82  return {"means": means, "product": spread * means[0], "every": x[::2, ::-3]}, None
        const float r1 = r0;
        w0.at[v] = r1;
    }
    dg_save<V>(y0 + (i0 * 3 + i1), w0);
}
extern "C" __global__ void __launch_bounds__(256) k2_v4(const float *__restrict__ a0, float *__restrict__ y0, const dg_index n) {
    k2_of<4>(a0, y0, n);
}
extern "C" __global__ void __launch_bounds__(256) k2_v1(const float *__restrict__ a0, float *__restrict__ y0, const dg_index n) {
    k2_of<1>(a0, y0, n);
}

// copy: tests/programs.py:82  return {"means": means, "product": spread * means[0], "every": x[::2, ::-3]}, None
// map over ((n + 1)//2, 3)
ElementwiseKernel k3(float32 a0) -> (float32 y0) {
    const float r0 = a0;
    // tests/programs.py:82  return {"means": means, "product": spread * means[0], "every": x[::2, ::-3]}, None
    const float r1 = r0;
    y0 = r1;
}

c0, = constants
t0 = slot(0, (min(n*3, 128)*512,), 'float64')
v0 = slot(1, (3,), 'float32')


def step(x, out_means, out_product, out_every):
    x_ = view(x, ((n + 1)//2, 3), (16, -3), 7)
    # sum_divide: tests/programs.py:79  means = dg.mean(dg.windows(x, 1, 3, stride=2), -1)
    k0(x, out_means, t0)
    # multiply: tests/programs.py:82  return {"means": means, "product": spread * means[0], "every": x[::2, ::-3]}, None
    k1(c0, out_means, v0)
    # copy: tests/programs.py:82  return {"means": means, "product": spread * means[0], "every": x[::2, ::-3]}, None
    k2(v0, out_product)
    # copy: tests/programs.py:82  return {"means": means, "product": spread * means[0], "every": x[::2, ::-3]}, None
    k3(x_, out_every)
