// philox_uniform: tests/programs.py:63  y = dg.dropout(dg.tanh(x + dg.normal(x.shape, 0.0, 0.1)), 0.5, training=True)
// call over (n, 4)
extern "C" __global__ void __launch_bounds__(256) k0(const uint64_t *__restrict__ a0, const uint64_t *__restrict__ a1, float *__restrict__ y0, const dg_index n_n) {
    const dg_index p = (dg_index)blockIdx.x * blockDim.x + threadIdx.x;
    if (p >= n_n) return;
    const dg_index i0 = p;
    uint32_t words[4];
    const dg_index first = i0 * 4;
    dg_philox((uint64_t)a0[0], (uint64_t)a1[0], 1u, (uint32_t)i0, words);
    if (first + 4 <= n_n*4) {
        const dg_pack<float, 4> pack = {{dg_uniform(words[0], 24), dg_uniform(words[1], 24), dg_uniform(words[2], 24), dg_uniform(words[3], 24)}};
        dg_save<4>(y0 + first, pack);
        return;
    }
    if (first + 0 < n_n*4)
    y0[first + 0] = dg_uniform(words[0], 24);
    if (first + 1 < n_n*4)
    y0[first + 1] = dg_uniform(words[1], 24);
    if (first + 2 < n_n*4)
    y0[first + 2] = dg_uniform(words[2], 24);
    if (first + 3 < n_n*4)
    y0[first + 3] = dg_uniform(words[3], 24);
}

// philox_normal: tests/programs.py:63  y = dg.dropout(dg.tanh(x + dg.normal(x.shape, 0.0, 0.1)), 0.5, training=True)
// call over (n, 4)
extern "C" __global__ void __launch_bounds__(256) k1(const uint64_t *__restrict__ a0, const uint64_t *__restrict__ a1, float *__restrict__ y0, const dg_index n_n) {
    const dg_index p = (dg_index)blockIdx.x * blockDim.x + threadIdx.x;
    if (p >= n_n) return;
    const dg_index i0 = p;
    uint32_t words[4];
    const dg_index first = i0 * 4;
    dg_philox((uint64_t)a0[0], (uint64_t)a1[0], 0u, (uint32_t)i0, words);
    float normals[4];
    dg_normals(words + 0, normals + 0);
    dg_normals(words + 2, normals + 2);
    if (first + 4 <= n_n*4) {
        const dg_pack<float, 4> pack = {{normals[0], normals[1], normals[2], normals[3]}};
        dg_save<4>(y0 + first, pack);
        return;
    }
    if (first + 0 < n_n*4)
    y0[first + 0] = normals[0];
    if (first + 1 < n_n*4)
    y0[first + 1] = normals[1];
    if (first + 2 < n_n*4)
    y0[first + 2] = normals[2];
    if (first + 3 < n_n*4)
    y0[first + 3] = normals[3];
}

// greater_equal_multiply_add_subtract: tests/programs.py:63  y = dg.dropout(dg.tanh(x + dg.normal(x.shape, 0.0, 0.1)), 0.5, training=True)
// map over (n*4,)
template <int V> DG_SCALAR void k2_of(const float *__restrict__ a0, const float *__restrict__ a1, const float *__restrict__ a2, float *__restrict__ y0, float *__restrict__ y1, const dg_index n) {
    const dg_index p = (dg_index)blockIdx.x * blockDim.x + threadIdx.x;
    if (p >= n / V) return;
    const dg_index i0 = p * V;
    const dg_pack<float, V> p0 = dg_load<V>(a0 + i0);
    const dg_pack<float, V> p1 = dg_load<V>(a1 + i0);
    const dg_pack<float, V> p2 = dg_load<V>(a2 + i0);
    dg_pack<float, V> w0;
    dg_pack<float, V> w1;
    #pragma unroll
    for (int v = 0; v < V; v++) {
        const float r0 = p0.at[v];
        const float r1 = p1.at[v];
        const float r2 = p2.at[v];
        // tests/programs.py:63  y = dg.dropout(dg.tanh(x + dg.normal(x.shape, 0.0, 0.1)), 0.5, training=True)
        const dg_bool r3 = dg_greater_equal(r0, 0.5f);
        const float r4 = r1 * 0.1f;
        const float r5 = r2 + r4;
        const float r6 = dg_tanh(r5);
        const float r7 = r6 * 2.0f;
        const float r8 = r3 ? r7 : 0.0f;
        const float r9 = r6 * r6;
        const float r10 = 1.0f - r9;
        const float r11 = 2.0f * r10;
        const float r12 = r3 ? r11 : 0.0f;
        w0.at[v] = r8;
        w1.at[v] = r12;
    }
    dg_save<V>(y0 + i0, w0);
    dg_save<V>(y1 + i0, w1);
}
extern "C" __global__ void __launch_bounds__(256) k2_v4(const float *__restrict__ a0, const float *__restrict__ a1, const float *__restrict__ a2, float *__restrict__ y0, float *__restrict__ y1, const dg_index n) {
    k2_of<4>(a0, a1, a2, y0, y1, n);
}
extern "C" __global__ void __launch_bounds__(256) k2_v1(const float *__restrict__ a0, const float *__restrict__ a1, const float *__restrict__ a2, float *__restrict__ y0, float *__restrict__ y1, const dg_index n) {
    k2_of<1>(a0, a1, a2, y0, y1, n);
}

// add: tests/test_golden.py:70  found = str(dg.emit(outputs, updates, backend="cupy")).rstrip() + "\n"
// map over ()
extern "C" __global__ void __launch_bounds__(256) k3(const uint64_t *a0, uint64_t *y0, const dg_index n) {
    const dg_index p = (dg_index)blockIdx.x * blockDim.x + threadIdx.x;
    if (p >= n) return;
    const uint64_t r0 = a0[0];
    // tests/test_golden.py:70  found = str(dg.emit(outputs, updates, backend="cupy")).rstrip() + "\n"
    const uint64_t r1 = r0 + UINT64_C(1);
    y0[0] = r1;
}

random_counter, = parameters
c0, = constants
v0 = slot(0, (n, 4), 'float32')
v1 = slot(1, (n, 4), 'float32')


def step(x, out_y, out_dx):
    # philox_uniform: tests/programs.py:63  y = dg.dropout(dg.tanh(x + dg.normal(x.shape, 0.0, 0.1)), 0.5, training=True)
    k0(c0, random_counter, v0)
    # philox_normal: tests/programs.py:63  y = dg.dropout(dg.tanh(x + dg.normal(x.shape, 0.0, 0.1)), 0.5, training=True)
    k1(c0, random_counter, v1)
    # greater_equal_multiply_add_subtract: tests/programs.py:63  y = dg.dropout(dg.tanh(x + dg.normal(x.shape, 0.0, 0.1)), 0.5, training=True)
    k2(v0, v1, x, out_y, out_dx)
    # add: tests/test_golden.py:70  found = str(dg.emit(outputs, updates, backend="cupy")).rstrip() + "\n"
    k3(random_counter, random_counter)
