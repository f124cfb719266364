// add: tests/programs.py:90  return {"both": p + q}, {p: q, q: p + x, mean: 0.9 * mean + 0.1 * p}
// map over (4,)
// add: tests/programs.py:90  return {"both": p + q}, {p: q, q: p + x, mean: 0.9 * mean + 0.1 * p}
// map over (4,)
template <int V> DG_SCALAR void k0_of(const float *__restrict__ a0, const float *__restrict__ a1, float *__restrict__ y0, const dg_index n) {
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
        // tests/programs.py:90  return {"both": p + q}, {p: q, q: p + x, mean: 0.9 * mean + 0.1 * p}
        const float r2 = r0 + r1;
        w0.at[v] = r2;
    }
    dg_save<V>(y0 + i0, w0);
}
extern "C" __global__ void __launch_bounds__(256) k0_v4(const float *__restrict__ a0, const float *__restrict__ a1, float *__restrict__ y0, const dg_index n) {
    k0_of<4>(a0, a1, y0, n);
}
extern "C" __global__ void __launch_bounds__(256) k0_v1(const float *__restrict__ a0, const float *__restrict__ a1, float *__restrict__ y0, const dg_index n) {
    k0_of<1>(a0, a1, y0, n);
}

// multiply_add: tests/programs.py:90  return {"both": p + q}, {p: q, q: p + x, mean: 0.9 * mean + 0.1 * p}
// map over (4,)
template <int V> DG_SCALAR void k1_of(const float *a0, const float *__restrict__ a1, float *y0, const dg_index n) {
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
        // tests/programs.py:90  return {"both": p + q}, {p: q, q: p + x, mean: 0.9 * mean + 0.1 * p}
        const float r2 = 0.9f * r0;
        const float r3 = 0.1f * r1;
        const float r4 = r2 + r3;
        w0.at[v] = r4;
    }
    dg_save<V>(y0 + i0, w0);
}
extern "C" __global__ void __launch_bounds__(256) k1_v4(const float *a0, const float *__restrict__ a1, float *y0, const dg_index n) {
    k1_of<4>(a0, a1, y0, n);
}
extern "C" __global__ void __launch_bounds__(256) k1_v1(const float *a0, const float *__restrict__ a1, float *y0, const dg_index n) {
    k1_of<1>(a0, a1, y0, n);
}

// copy: tests/programs.py:88  p, q = dg.Parameter(np.zeros(4, "f"), "p"), dg.Parameter(np.ones(4, "f"), "q")
// map over (4,)
template <int V> DG_SCALAR void k2_of(const float *__restrict__ a0, float *__restrict__ y0, const dg_index n) {
    const dg_index p = (dg_index)blockIdx.x * blockDim.x + threadIdx.x;
    if (p >= n / V) return;
    const dg_index i0 = p * V;
    const dg_pack<float, V> p0 = dg_load<V>(a0 + i0);
    dg_pack<float, V> w0;
    #pragma unroll
    for (int v = 0; v < V; v++) {
        const float r0 = p0.at[v];
        // tests/programs.py:88  p, q = dg.Parameter(np.zeros(4, "f"), "p"), dg.Parameter(np.ones(4, "f"), "q")
        const float r1 = r0;
        w0.at[v] = r1;
    }
    dg_save<V>(y0 + i0, w0);
}
extern "C" __global__ void __launch_bounds__(256) k2_v4(const float *__restrict__ a0, float *__restrict__ y0, const dg_index n) {
    k2_of<4>(a0, y0, n);
}
extern "C" __global__ void __launch_bounds__(256) k2_v1(const float *__restrict__ a0, float *__restrict__ y0, const dg_index n) {
    k2_of<1>(a0, y0, n);
}

p, q, mean0, = parameters
v0 = slot(0, (4,), 'float32')


def step(x, out_both):
    # add: tests/programs.py:90  return {"both": p + q}, {p: q, q: p + x, mean: 0.9 * mean + 0.1 * p}
    k0(p, q, out_both)
    # multiply_add: tests/programs.py:90  return {"both": p + q}, {p: q, q: p + x, mean: 0.9 * mean + 0.1 * p}
    k1(mean0, p, mean0)
    # copy: tests/programs.py:88  p, q = dg.Parameter(np.zeros(4, "f"), "p"), dg.Parameter(np.ones(4, "f"), "q")
    k2(q, v0)
    # add: tests/programs.py:90  return {"both": p + q}, {p: q, q: p + x, mean: 0.9 * mean + 0.1 * p}
    k3(p, x, q)
    # new values
    cp.copyto(p, v0)
