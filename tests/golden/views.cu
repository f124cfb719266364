// copy: tests/programs.py:70  left, right = x[:, :3], dg.flip(x[:, 3:], 1)
// map over (n, 3)
template <int V> DG_SCALAR void k0_of(const float *__restrict__ a0, float *__restrict__ y0, const dg_index n) {
    const dg_index p = (dg_index)blockIdx.x * blockDim.x + threadIdx.x;
    if (p >= n / V) return;
    const dg_index i1 = (p % (3 / V)) * V;
    const dg_index q1 = p / (3 / V);
    const dg_index i0 = q1;
    const dg_pack<float, V> p0 = dg_load<V>(a0 + (i0 * 6 + i1));
    dg_pack<float, V> w0;
    #pragma unroll
    for (int v = 0; v < V; v++) {
        const float r0 = p0.at[v];
        // tests/programs.py:70  left, right = x[:, :3], dg.flip(x[:, 3:], 1)
        const float r1 = r0;
        w0.at[v] = r1;
    }
    dg_save<V>(y0 + (i0 * 3 + i1), w0);
}
extern "C" __global__ void __launch_bounds__(256) k0_v4(const float *__restrict__ a0, float *__restrict__ y0, const dg_index n) {
    k0_of<4>(a0, y0, n);
}
extern "C" __global__ void __launch_bounds__(256) k0_v1(const float *__restrict__ a0, float *__restrict__ y0, const dg_index n) {
    k0_of<1>(a0, y0, n);
}

// multiply_copy: tests/programs.py:71  turned = dg.permute_dims(left * right)
// map over (3, n)
ElementwiseKernel k1(float32 a0, float32 a1) -> (float32 y0, float32 y1) {
    const float r0 = a0;
    const float r1 = a1;
    // tests/programs.py:71  turned = dg.permute_dims(left * right)
    const float r2 = r0 * r1;
    const float r3 = r2;
    y0 = r2;
    y1 = r3;
}

// add: tests/programs.py:72  whole = dg.concat([dg.reshape(turned, (-1,)), dg.reshape(left, (-1,)) + 1])
// map over (n*3,)
template <int V> DG_SCALAR void k2_of(const float *a0, float *y0, const dg_index n) {
    const dg_index p = (dg_index)blockIdx.x * blockDim.x + threadIdx.x;
    if (p >= n / V) return;
    const dg_index i0 = p * V;
    const dg_pack<float, V> p0 = dg_load<V>(a0 + i0);
    dg_pack<float, V> w0;
    #pragma unroll
    for (int v = 0; v < V; v++) {
        const float r0 = p0.at[v];
        // tests/programs.py:72  whole = dg.concat([dg.reshape(turned, (-1,)), dg.reshape(left, (-1,)) + 1])
        const float r1 = r0 + 1.0f;
        w0.at[v] = r1;
    }
    dg_save<V>(y0 + i0, w0);
}
extern "C" __global__ void __launch_bounds__(256) k2_v4(const float *a0, float *y0, const dg_index n) {
    k2_of<4>(a0, y0, n);
}
extern "C" __global__ void __launch_bounds__(256) k2_v1(const float *a0, float *y0, const dg_index n) {
    k2_of<1>(a0, y0, n);
}

// concat: tests/programs.py:72  whole = dg.concat([dg.reshape(turned, (-1,)), dg.reshape(left, (-1,)) + 1])
// call over (n*6,)
extern "C" __global__ void __launch_bounds__(256) k3(const float *__restrict__ a0, const float *__restrict__ a1, float *__restrict__ y0, const dg_index n_n) {
    const dg_index p = (dg_index)blockIdx.x * blockDim.x + threadIdx.x;
    if (p >= n_n*6) return;
    const dg_index i0 = p;
    if (i0 < n_n*3) {
        y0[i0] = a0[i0];
        return;
    }
    if (i0 < n_n*6) {
        y0[i0] = a1[i0 + -n_n*3];
        return;
    }
}

// copy: tests/programs.py:73  return {"turned": turned, "whole": whole, "last": x[-1]}, None
// map over (6,)
template <int V> DG_SCALAR void k4_of(const float *__restrict__ a0, float *__restrict__ y0, const dg_index n, const dg_index n_n) {
    const dg_index p = (dg_index)blockIdx.x * blockDim.x + threadIdx.x;
    if (p >= n / V) return;
    const dg_index i0 = p * V;
    const dg_pack<float, V> p0 = dg_load<V>(a0 + (i0 + n_n*6 - 6));
    dg_pack<float, V> w0;
    #pragma unroll
    for (int v = 0; v < V; v++) {
        const float r0 = p0.at[v];
        // tests/programs.py:73  return {"turned": turned, "whole": whole, "last": x[-1]}, None
        const float r1 = r0;
        w0.at[v] = r1;
    }
    dg_save<V>(y0 + i0, w0);
}
extern "C" __global__ void __launch_bounds__(256) k4_v4(const float *__restrict__ a0, float *__restrict__ y0, const dg_index n, const dg_index n_n) {
    k4_of<4>(a0, y0, n, n_n);
}
extern "C" __global__ void __launch_bounds__(256) k4_v1(const float *__restrict__ a0, float *__restrict__ y0, const dg_index n, const dg_index n_n) {
    k4_of<1>(a0, y0, n, n_n);
}

v0 = slot(0, (n, 3), 'float32')
v1 = slot(1, (n, 3), 'float32')
v1_ = v1.reshape((3, n))
v2 = slot(0, (n*3,), 'float32')


def step(x, out_turned, out_whole, out_last):
    x_ = view(x, (3, n), (1, 6))
    x_0 = view(x, (3, n), (-1, 6), 5)
    # copy: tests/programs.py:70  left, right = x[:, :3], dg.flip(x[:, 3:], 1)
    k0(x, v0)
    # multiply_copy: tests/programs.py:71  turned = dg.permute_dims(left * right)
    k1(x_, x_0, v1_, out_turned)
    # add: tests/programs.py:72  whole = dg.concat([dg.reshape(turned, (-1,)), dg.reshape(left, (-1,)) + 1])
    k2(v0, v2)
    # concat: tests/programs.py:72  whole = dg.concat([dg.reshape(turned, (-1,)), dg.reshape(left, (-1,)) + 1])
    k3(v1, v2, out_whole)
    # copy: tests/programs.py:73  return {"turned": turned, "whole": whole, "last": x[-1]}, None
    k4(x, out_last)
