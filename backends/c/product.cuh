/* Products of matrices in CUDA: a block makes a tile of 16 T by 16 T elements, each of its 256 threads T by T of them. */
#ifndef DG_PRODUCT_H
#define DG_PRODUCT_H

enum { DG_DEPTH = 16 }; /* of a tile's operands: as far as they are in shared memory at a time */

DG_SCALAR float dg_fused(float x, float y, float z) { return fmaf(x, y, z); }
DG_SCALAR double dg_fused(double x, double y, double z) { return fma(x, y, z); }

template <int T> DG_SCALAR dg_index dg_tiles(dg_index m, dg_index n) {
  return ((m + 16 * T - 1) / (16 * T)) * ((n + 16 * T - 1) / (16 * T));
}

/* The elements of the tile that `tile` counts, of the sums of a(row, k) * b(k, column) for k from low to high, to
   put(row, column, sum). ROWS says that neighbouring k of a lie together, COLUMNS that neighbouring columns of b do. The
   next operands are on their way from memory while these are multiplied. */
template <int T, bool ROWS, bool COLUMNS, class R, class A, class B, class Put>
DG_SCALAR void dg_product(dg_index tile, dg_index m, dg_index n, dg_index low, dg_index high, A a, B b, Put put, R *shared) {
  enum { SIDE = 16 * T, PITCH = SIDE + 1 };
  R *const left = shared, *const right = shared + DG_DEPTH * PITCH;
  const dg_index across = (n + SIDE - 1) / SIDE, top = tile / across * SIDE, start = tile % across * SIDE;
  const int x = threadIdx.x % 16, y = threadIdx.x / 16;
  R sums[T][T] = {}, next_a[T], next_b[T];
  for (dg_index from = low - DG_DEPTH; from < high; from += DG_DEPTH) {
    if (from >= low) {
#pragma unroll
      for (int e = 0; e < T; e++) {
        const int at = threadIdx.x + 256 * e;
        left[ROWS ? at % DG_DEPTH * PITCH + at / DG_DEPTH : at / SIDE * PITCH + at % SIDE] = next_a[e];
        right[COLUMNS ? at / SIDE * PITCH + at % SIDE : at % DG_DEPTH * PITCH + at / DG_DEPTH] = next_b[e];
      }
      __syncthreads();
    }
    const dg_index next = from + DG_DEPTH;
    if (next < high) {
#pragma unroll
      for (int e = 0; e < T; e++) {
        const int at = threadIdx.x + 256 * e;
        const dg_index row = top + (ROWS ? at / DG_DEPTH : at % SIDE), ka = next + (ROWS ? at % DG_DEPTH : at / SIDE);
        const dg_index column = start + (COLUMNS ? at % SIDE : at / DG_DEPTH);
        const dg_index kb = next + (COLUMNS ? at / SIDE : at % DG_DEPTH);
        next_a[e] = row < m && ka < high ? a(row, ka) : 0;
        next_b[e] = column < n && kb < high ? b(kb, column) : 0;
      }
    }
    if (from < low) continue;
#pragma unroll
    for (int k = 0; k < DG_DEPTH; k++) {
      R rows[T], columns[T];
#pragma unroll
      for (int i = 0; i < T; i++) rows[i] = left[k * PITCH + y + 16 * i], columns[i] = right[k * PITCH + x + 16 * i];
#pragma unroll
      for (int i = 0; i < T; i++)
#pragma unroll
        for (int j = 0; j < T; j++) sums[i][j] = dg_fused(rows[i], columns[j], sums[i][j]);
    }
    __syncthreads();
  }
#pragma unroll
  for (int i = 0; i < T; i++)
#pragma unroll
    for (int j = 0; j < T; j++) {
      const dg_index row = top + y + 16 * i, column = start + x + 16 * j;
      if (row < m && column < n) put(row, column, sums[i][j]);
    }
}

#endif
