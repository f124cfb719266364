/* Vectors of floats as wide as the processor's registers, for loops that must keep their sums in them. */
#ifndef DG_VECTOR_H
#define DG_VECTOR_H

#include "loops.h"

/* Of functions whose loops depend on their callers' constants. */
#define DG_INLINE static inline __attribute__((always_inline))

#ifdef __clang__
#define DG_UNROLL _Pragma("clang loop unroll(full)")
#else
#define DG_UNROLL _Pragma("GCC unroll 64")
#endif

#define DG_JOIN(a, b) a##_##b
#define DG_OF(a, b) DG_JOIN(a, b) /* the name for elements of a dtype */

/* dg_v: a vector in registers; dg_u: one in memory, aligned as its elements are; dg_m: a mask. */
typedef float dg_v_float32 __attribute__((vector_size(DG_VECTOR)));
typedef double dg_v_float64 __attribute__((vector_size(DG_VECTOR)));
typedef float dg_u_float32 __attribute__((vector_size(DG_VECTOR), aligned(4), may_alias));
typedef double dg_u_float64 __attribute__((vector_size(DG_VECTOR), aligned(8), may_alias));
typedef int32_t dg_m_float32 __attribute__((vector_size(DG_VECTOR)));
typedef int64_t dg_m_float64 __attribute__((vector_size(DG_VECTOR)));

/* a b + c. Compilers contract products and sums only where they may contract all: so by name, or by lanes. */
#if defined(__AVX512F__) && !defined(__clang__)
#define DG_FUSED_float32(a, b, c) __builtin_ia32_vfmaddps512_mask(a, b, c, (unsigned short)-1, 4)
#define DG_FUSED_float64(a, b, c) __builtin_ia32_vfmaddpd512_mask(a, b, c, (unsigned char)-1, 4)
#elif defined(__FMA__) && !defined(__clang__)
#define DG_FUSED_float32(a, b, c) __builtin_ia32_vfmaddps256(a, b, c)
#define DG_FUSED_float64(a, b, c) __builtin_ia32_vfmaddpd256(a, b, c)
#elif DG_HAS_FMA
#define DG_FUSED_float32(a, b, c) dg_by_lanes_float32(a, b, c)
#define DG_FUSED_float64(a, b, c) dg_by_lanes_float64(a, b, c)
#else
#define DG_FUSED_float32(a, b, c) ((a) * (b) + (c))
#define DG_FUSED_float64(a, b, c) ((a) * (b) + (c))
#endif

/* Lanes of a and then of b, by number. */
#ifdef __clang__
#define DG_MIXED(a, b, from, y, lanes) for (int l = 0; l < lanes; l++) y[l] = from[l] < lanes ? a[from[l]] : b[from[l] - lanes]
#else
#define DG_MIXED(a, b, from, y, lanes) y = __builtin_shuffle(a, b, from)
#endif

#define DG_DEFINE_VECTOR(T, FMA, NAME) \
  enum { DG_LANES_##NAME = DG_VECTOR / sizeof(T) }; \
  DG_INLINE dg_v_##NAME dg_by_lanes_##NAME(dg_v_##NAME a, dg_v_##NAME b, dg_v_##NAME c) { \
    for (int l = 0; l < DG_LANES_##NAME; l++) c[l] = FMA(a[l], b[l], c[l]); \
    return c; \
  } \
  /* All lanes the same; to subtract 0 changes nothing, and is no instruction. */ \
  DG_INLINE dg_v_##NAME dg_spread_##NAME(T x) { return x - (dg_v_##NAME){0}; } \
  DG_INLINE dg_v_##NAME dg_load_##NAME(const T *x) { return *(const dg_u_##NAME *)x; } \
  DG_INLINE void dg_store_##NAME(T *y, dg_v_##NAME x) { *(dg_u_##NAME *)y = x; } \
  /* The sums of the lanes of n vectors, which come first of each; all vectors at once, by halves. */ \
  DG_INLINE void dg_totals_##NAME(const int n, T (*x)[DG_LANES_##NAME]) { \
    DG_UNROLL for (int half = DG_LANES_##NAME / 2; half; half /= 2) \
      for (int k = 0; k < n; k++) \
        DG_UNROLL for (int l = 0; l < half; l++) x[k][l] += x[k][l + half]; \
  } \
  DG_INLINE dg_v_##NAME dg_mixed_##NAME(dg_v_##NAME a, dg_v_##NAME b, dg_m_##NAME from) { \
    dg_v_##NAME y; \
    DG_MIXED(a, b, from, y, DG_LANES_##NAME); \
    return y; \
  } \
  /* The lanes from `low` up to `high`. */ \
  DG_INLINE dg_m_##NAME dg_lanes_##NAME(int64_t low, int64_t high) { \
    dg_m_##NAME mask = {0}; \
    for (int l = 0; l < DG_LANES_##NAME; l++) mask[l] = l >= low && l < high ? -1 : 0; \
    return mask; \
  } \
  DG_INLINE dg_v_##NAME dg_masked_##NAME(dg_v_##NAME x, dg_m_##NAME mask) { return (dg_v_##NAME)((dg_m_##NAME)x & mask); }
DG_DEFINE_VECTOR(float, fmaf, float32)
DG_DEFINE_VECTOR(double, fma, float64)

#endif
