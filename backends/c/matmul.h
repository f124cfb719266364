/* Matrix products over any strides: each thread computes a slice; those of floats are in product.c. */
#ifndef DG_MATMUL_H
#define DG_MATMUL_H

#include "loops.h"

/* c = a b, of m x k and k x n, on this thread alone; R is what sums run in, FROM and TO convert. */
#define DG_DEFINE_PRODUCT(T, R, FROM, TO, NAME) \
  DG_FN void dg_product_##NAME(int64_t m, int64_t n, int64_t k, const T *a, int64_t a0, int64_t a1, \
                               const T *b, int64_t b0, int64_t b1, T *c, int64_t c0, int64_t c1) { \
    enum { WIDTH = 64 }; \
    for (int64_t i = 0; i < m; i++) { \
      for (int64_t s = 0; s < n; s += WIDTH) { \
        const int64_t w = dg_min(WIDTH, n - s); \
        R sums[WIDTH] = {0}; \
        for (int64_t l = 0; l < k; l++) { \
          const R x = FROM(a[i * a0 + l * a1]); \
          for (int64_t j = 0; j < w; j++) sums[j] += x * FROM(b[l * b0 + (s + j) * b1]); \
        } \
        for (int64_t j = 0; j < w; j++) c[i * c0 + (s + j) * c1] = (T)TO(sums[j]); \
      } \
    } \
  }

#define DG_DEFINE_QUICK(T, NAME) \
  DG_FN void dg_multiply_##NAME(dg_call *call, int64_t m, int64_t n, int64_t k, const T *a, int64_t a0, \
                                int64_t a1, const T *b, int64_t b0, int64_t b1, T *c, int64_t c0, \
                                int64_t c1) { \
    call->multiply->NAME(m, n, k, a, a0, a1, b, b0, b1, c, c0, c1); \
  }

#define DG_DEFINE_LOOPS(T, NAME) \
  DG_FN void dg_multiply_##NAME(dg_call *call, int64_t m, int64_t n, int64_t k, const T *a, int64_t a0, \
                                int64_t a1, const T *b, int64_t b0, int64_t b1, T *c, int64_t c0, \
                                int64_t c1) { \
    (void)call; \
    dg_product_##NAME(m, n, k, a, a0, a1, b, b0, b1, c, c0, c1); \
  }

/* This thread's slice of a result of m x n, and how high and wide its tiles are. */
enum { DG_TILE = 1 << 18, DG_SIDE = 128 }; /* bytes; rows where all columns leave no more */
typedef struct dg_slice { int64_t r0, r1, c0, c1, high, wide; } dg_slice;

DG_FN dg_slice dg_slice_of(int64_t m, int64_t n, int64_t itemsize, int64_t me, int64_t count) {
  const int by_columns = n >= m;
  const int64_t low = dg_share(by_columns ? n : m, 16, me, count);
  const int64_t high = dg_share(by_columns ? n : m, 16, me + 1, count);
  dg_slice s = {by_columns ? 0 : low, by_columns ? m : high, by_columns ? low : 0, by_columns ? high : n, 1, 1};
  const int64_t most = DG_TILE / itemsize, rows = dg_max(s.r1 - s.r0, 1), columns = dg_max(s.c1 - s.c0, 1);
  s.high = dg_min(rows, dg_max(DG_SIDE, most / columns));
  s.wide = dg_min(columns, most / s.high);
  return s;
}

/* This thread's slice of the product: of the longer side of the result. */
#define DG_DEFINE_MATMUL(T, NAME) \
  DG_FN void dg_matmul_##NAME(dg_call *call, int64_t me, int64_t count, int64_t m, int64_t n, int64_t k, \
                              const T *a, int64_t a0, int64_t a1, const T *b, int64_t b0, int64_t b1, \
                              T *c, int64_t c0, int64_t c1) { \
    const dg_slice s = dg_slice_of(m, n, sizeof(T), me, count); \
    dg_multiply_##NAME(call, s.r1 - s.r0, s.c1 - s.c0, k, a + s.r0 * a0, a0, a1, b + s.c0 * b1, b0, b1, \
                       c + s.r0 * c0 + s.c0 * c1, c0, c1); \
  }

#define DG_SAME(x) (x)
DG_DEFINE_QUICK(float, float32)
DG_DEFINE_QUICK(double, float64)
DG_DEFINE_MATMUL(float, float32)
DG_DEFINE_MATMUL(double, float64)

#define DG_DEFINE_OTHER(T, R, FROM, TO, NAME) \
  DG_DEFINE_PRODUCT(T, R, FROM, TO, NAME) \
  DG_DEFINE_LOOPS(T, NAME) \
  DG_DEFINE_MATMUL(T, NAME)
DG_DEFINE_OTHER(dg_half, float, dg_from_half, dg_to_half, float16)
DG_DEFINE_OTHER(dg_bfloat, float, dg_from_bfloat, dg_to_bfloat, bfloat16)
DG_DEFINE_OTHER(uint8_t, int, DG_SAME, !!, bool)
DG_DEFINE_OTHER(int8_t, uint32_t, DG_SAME, DG_SAME, int8)
DG_DEFINE_OTHER(int16_t, uint32_t, DG_SAME, DG_SAME, int16)
DG_DEFINE_OTHER(int32_t, uint32_t, DG_SAME, DG_SAME, int32)
DG_DEFINE_OTHER(int64_t, uint64_t, DG_SAME, DG_SAME, int64)
DG_DEFINE_OTHER(uint8_t, uint32_t, DG_SAME, DG_SAME, uint8)
DG_DEFINE_OTHER(uint16_t, uint32_t, DG_SAME, DG_SAME, uint16)
DG_DEFINE_OTHER(uint32_t, uint32_t, DG_SAME, DG_SAME, uint32)
DG_DEFINE_OTHER(uint64_t, uint64_t, DG_SAME, DG_SAME, uint64)

#endif
