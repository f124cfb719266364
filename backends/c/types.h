/* Types of elements and their conversions, with NumPy's results.

   A value of float16 or bfloat16 is a float in registers: dg_from_half and dg_from_bfloat load it, dg_to_half and
   dg_to_bfloat store it; dg_to_float16 and dg_to_bfloat16 round within a register. CUDA redefines the three macros. */
#ifndef DG_TYPES_H
#define DG_TYPES_H

#include <math.h>
#include <stdint.h>
#include <string.h>

#ifndef DG_FN
#define DG_FN static inline
#endif
#ifndef DG_SCALAR /* what computes one element: a call would keep the loop around it from vectorising */
#define DG_SCALAR static inline __attribute__((always_inline))
#endif
#ifndef DG_TABLE
#define DG_TABLE static const
#endif

#ifdef __cplusplus
typedef bool dg_bool;
#else
typedef _Bool dg_bool;
#endif

/* Vectors of AVX-512, of sixteen floats, where the compiler takes them as values. */
#if defined(__AVX512DQ__) && defined(__ELF__) && __GNUC__ >= 12 && !defined(__cplusplus)
#define DG_AVX512 1
typedef float dg_16 __attribute__((vector_size(64)));
typedef int32_t dg_16i __attribute__((vector_size(64)));
typedef float dg_16u __attribute__((vector_size(64), aligned(4), may_alias)); /* one in memory */
#define DG_16_OF(f) , dg_16: dg_##f##_16
#else
#define DG_AVX512 0
#define DG_16_OF(f)
#endif

/* The bits of a float, and back. */

DG_SCALAR uint32_t dg_bits_float32(float x) { uint32_t u; memcpy(&u, &x, sizeof u); return u; }
DG_SCALAR uint64_t dg_bits_float64(double x) { uint64_t u; memcpy(&u, &x, sizeof u); return u; }
DG_SCALAR float dg_float32_of(uint32_t u) { float x; memcpy(&x, &u, sizeof x); return x; }
DG_SCALAR double dg_float64_of(uint64_t u) { double x; memcpy(&x, &u, sizeof x); return x; }

/* Half precision, rounded to nearest, halves to even. Integer arithmetic, which vectorises without F16C. */

typedef uint16_t dg_half;   /* float16: 1 sign, 5 exponent, 10 fraction bits */
typedef uint16_t dg_bfloat; /* bfloat16: the upper half of a float */

DG_SCALAR float dg_from_half(dg_half h) {
  uint32_t u = (uint32_t)(h & 0x7fff) << 13;
  uint32_t normal = u + (112u << 23); /* the other exponent bias */
  uint32_t small = dg_bits_float32(dg_float32_of(u + (113u << 23)) - 0x1p-14f); /* of subnormals; itself of none */
  uint32_t finite = h & 0x7c00 ? normal : small;
  uint32_t size = (h & 0x7c00) == 0x7c00 ? u | 0x7f800000 : finite;
  return dg_float32_of(size | (uint32_t)(h & 0x8000) << 16);
}

DG_SCALAR dg_half dg_to_half(float x) {
  uint32_t u = dg_bits_float32(x), a = u & 0x7fffffff;
  uint32_t normal = (a + 0xfff + (a >> 13 & 1) - (112u << 23)) >> 13;
  uint32_t small = dg_bits_float32(dg_float32_of(a) + 0.5f) - 0x3f000000; /* 0.5 has the spacing of subnormals */
  uint32_t special = a > 0x7f800000 ? 0x7e00 | (a >> 13 & 0x3ff) : 0x7c00;
  uint32_t size = a < 0x38800000 ? small : a < 0x477ff000 ? normal : special;
  return (dg_half)(size | (u >> 16 & 0x8000));
}

DG_SCALAR float dg_from_bfloat(dg_bfloat b) { return dg_float32_of((uint32_t)b << 16); }

DG_SCALAR dg_bfloat dg_to_bfloat(float x) {
  uint32_t u = dg_bits_float32(x), rounded = u + 0x7fff + (u >> 16 & 1);
  return (dg_bfloat)((x != x ? u | 0x400000 : rounded) >> 16);
}

/* A double whose last bits, cut off, leave a mark in the last one kept: to round what is left is to round it once. */
DG_SCALAR float dg_to_odd_float32(double x) {
  uint64_t u = dg_bits_float64(x), cut = u & 0x1fffffff;
  return (float)dg_float64_of((u - cut) | (uint64_t)(cut != 0) << 29);
}

/* Conversions: dg_to_int8(x) and the like, by the name of the dtype. Integers wrap. Floats truncate; those beyond
   int32 (int64 for uint32 and wider) become the least of these, as on x86, and then wrap. */

#define DG_DEFINE_FROM(R, NAME) \
  DG_SCALAR int32_t dg_int32_from_##NAME(R x) { return x >= (R)-0x1p31 && x < (R)0x1p31 ? (int32_t)x : INT32_MIN; } \
  DG_SCALAR int64_t dg_int64_from_##NAME(R x) { return x >= (R)-0x1p63 && x < (R)0x1p63 ? (int64_t)x : INT64_MIN; } \
  DG_SCALAR int8_t dg_int8_from_##NAME(R x) { return (int8_t)dg_int32_from_##NAME(x); } \
  DG_SCALAR int16_t dg_int16_from_##NAME(R x) { return (int16_t)dg_int32_from_##NAME(x); } \
  DG_SCALAR uint8_t dg_uint8_from_##NAME(R x) { return (uint8_t)dg_int32_from_##NAME(x); } \
  DG_SCALAR uint16_t dg_uint16_from_##NAME(R x) { return (uint16_t)dg_int32_from_##NAME(x); } \
  DG_SCALAR uint32_t dg_uint32_from_##NAME(R x) { return (uint32_t)dg_int64_from_##NAME(x); } \
  DG_SCALAR uint64_t dg_uint64_from_##NAME(R x) { \
    return x >= (R)0x1p63 && x < (R)0x1p64 ? (uint64_t)x : (uint64_t)dg_int64_from_##NAME(x); \
  }
DG_DEFINE_FROM(float, float32)
DG_DEFINE_FROM(double, float64)

DG_SCALAR float dg_float16_from_float32(float x) { return dg_from_half(dg_to_half(x)); }
DG_SCALAR float dg_float16_from_float64(double x) { return dg_from_half(dg_to_half(dg_to_odd_float32(x))); }

DG_SCALAR int8_t dg_int8_from_int64(int64_t x) { return (int8_t)x; }
DG_SCALAR int16_t dg_int16_from_int64(int64_t x) { return (int16_t)x; }
DG_SCALAR int32_t dg_int32_from_int64(int64_t x) { return (int32_t)x; }
DG_SCALAR int64_t dg_int64_from_int64(int64_t x) { return x; }
DG_SCALAR uint8_t dg_uint8_from_int64(int64_t x) { return (uint8_t)x; }
DG_SCALAR uint16_t dg_uint16_from_int64(int64_t x) { return (uint16_t)x; }
DG_SCALAR uint32_t dg_uint32_from_int64(int64_t x) { return (uint32_t)x; }
DG_SCALAR uint64_t dg_uint64_from_int64(int64_t x) { return (uint64_t)x; }

#define dg_to_bool(x) ((dg_bool)(x))
#define dg_to_float32(x) ((float)(x))
#define dg_to_float64(x) ((double)(x))
#define dg_to_bfloat16(x) dg_from_bfloat(dg_to_bfloat((float)(x)))

#ifndef __cplusplus

#define DG_FROM(f, x) \
  _Generic((x), float: dg_##f##_from_float32, double: dg_##f##_from_float64, default: dg_##f##_from_int64)(x)

#define dg_to_int8(x) DG_FROM(int8, x)
#define dg_to_int16(x) DG_FROM(int16, x)
#define dg_to_int32(x) DG_FROM(int32, x)
#define dg_to_int64(x) DG_FROM(int64, x)
#define dg_to_uint8(x) DG_FROM(uint8, x)
#define dg_to_uint16(x) DG_FROM(uint16, x)
#define dg_to_uint32(x) DG_FROM(uint32, x)
#define dg_to_uint64(x) DG_FROM(uint64, x)
#define dg_to_float16(x) _Generic((x), double: dg_float16_from_float64, default: dg_float16_from_float32)(x)

#else

#define DG_FROM(f) \
  DG_SCALAR auto dg_to_##f(float x) { return dg_##f##_from_float32(x); } \
  DG_SCALAR auto dg_to_##f(double x) { return dg_##f##_from_float64(x); } \
  template <class T> DG_SCALAR auto dg_to_##f(T x) { return dg_##f##_from_int64((int64_t)x); }

DG_FROM(int8) DG_FROM(int16) DG_FROM(int32) DG_FROM(int64) DG_FROM(uint8) DG_FROM(uint16) DG_FROM(uint32)
DG_FROM(uint64)
DG_SCALAR float dg_to_float16(double x) { return dg_float16_from_float64(x); }
template <class T> DG_SCALAR float dg_to_float16(T x) { return dg_float16_from_float32((float)x); }

#endif
#endif
