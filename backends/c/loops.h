/* What the loops of a generated step need besides its scalars: sizes, and each thread's share. */
#ifndef DG_LOOPS_H
#define DG_LOOPS_H

#include "maths.h"
#include "team.h"

DG_FN int64_t dg_max(int64_t a, int64_t b) { return a > b ? a : b; }
DG_FN int64_t dg_min(int64_t a, int64_t b) { return a < b ? a : b; }

/* Bytes rounded up to whole cache lines. */
DG_FN int64_t dg_padded(int64_t bytes) { return (bytes + 63) / 64 * 64; }

/* Where the share of thread `me` of `count` begins, of n steps shared out in multiples of `step`. */
DG_FN int64_t dg_share(int64_t n, int64_t step, int64_t me, int64_t count) {
  return me == count ? n : n / step * me / count * step;
}

/* Bytes of a vector register, and how many there are. */
#if defined(__AVX512F__)
enum { DG_VECTOR = 64, DG_REGISTERS = 32 };
#elif defined(__AVX__)
enum { DG_VECTOR = 32, DG_REGISTERS = 16 };
#elif defined(__aarch64__)
enum { DG_VECTOR = 16, DG_REGISTERS = 32 };
#else
enum { DG_VECTOR = 16, DG_REGISTERS = 16 };
#endif

/* A loop over i whose element l of each array of DG_LANES is its own to fold into: four vectors of floats, so that an
   addition need not wait for the one before. The block stands twice, for whole turns and for what is left. */
enum { DG_LANES = DG_VECTOR };
#ifdef __clang__
#define DG_LANES_APART _Pragma("omp simd")
#define DG_LANES_UNROLLED _Pragma("clang loop unroll(full)")
#else
#define DG_LANES_APART _Pragma("GCC ivdep")
#define DG_LANES_UNROLLED _Pragma("GCC unroll 8")
#endif
#define DG_BY_LANES(i, low, high, ...) \
  int64_t turn = (low); \
  for (; turn + DG_LANES <= (high); turn += DG_LANES) \
    DG_LANES_APART DG_LANES_UNROLLED for (int l = 0; l < DG_LANES; l++) { \
      const int64_t i = turn + l; \
      __VA_ARGS__ \
    } \
  _Pragma("omp simd") for (int l = 0; l < (high) - turn; l++) { \
    const int64_t i = turn + l; \
    __VA_ARGS__ \
  }

/* A loop over i, and over vectors where there are: dg_floats are one or more floats, the elements from i on. Element l of
   each array of DG_LANES is theirs to fold into. The block stands for several vectors, for one, and for one float. */
#define DG_GET(element) ((dg_floats)*(const dg_floats_at *)&(element))
#define DG_PUT(element, value) (*(dg_floats_at *)&(element) = (value))
#define DG_FLOATS(value, memory) \
  typedef value dg_floats __attribute__((unused)); \
  typedef memory dg_floats_at __attribute__((unused));
#if DG_AVX512
#define DG_VECTORS(count, i, low, high, ...) \
  int64_t turn = (low); \
  { \
    DG_FLOATS(dg_16, dg_16u) \
    for (; turn + 16 * count <= (high); turn += 16 * count) \
      DG_LANES_UNROLLED for (int l = 0; l < 16 * count; l += 16) { \
        const int64_t i = turn + l; \
        __VA_ARGS__ \
      } \
    for (; turn + 16 <= (high); turn += 16) { \
      const int64_t l = 0, i = turn; \
      (void)l; \
      __VA_ARGS__ \
    } \
  } \
  DG_FLOATS(float, float) \
  _Pragma("omp simd") for (int l = 0; l < (high) - turn; l++) { \
    const int64_t i = turn + l; \
    __VA_ARGS__ \
  }
#define DG_MAP_VECTORS(i, low, high, ...) DG_VECTORS(2, i, low, high, __VA_ARGS__)
#define DG_FOLD_VECTORS(i, low, high, ...) DG_VECTORS(4, i, low, high, __VA_ARGS__)
#else
#define DG_MAP_VECTORS(i, low, high, ...) \
  DG_FLOATS(float, float) \
  _Pragma("omp simd") for (int64_t i = (low); i < (high); i++) { __VA_ARGS__ }
#define DG_FOLD_VECTORS(i, low, high, ...) DG_FLOATS(float, float) DG_BY_LANES(i, low, high, __VA_ARGS__)
#endif

/* What the lanes came to, taken into the first of them: all by halves. */
#define DG_JOIN_LANES(...) \
  DG_LANES_UNROLLED for (int half = DG_LANES / 2; half; half /= 2) \
    DG_LANES_APART DG_LANES_UNROLLED for (int l = 0; l < half; l++) { __VA_ARGS__ }

#endif
