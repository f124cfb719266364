/* Integers, comparisons, rounding and division of scalars as generated C computes them, with NumPy's results.

   Each function has one form a dtype, dg_abs_int8 for example; dg_abs chooses among them by the type of its first
   argument. Nothing here traps or is undefined, given -fwrapv. */
#ifndef DG_SCALAR_H
#define DG_SCALAR_H

#include "types.h"

/* Integers and booleans. U is unsigned and no narrower than int, so that products wrap. */

#define DG_DEFINE_ORDERED(T, NAME) \
  DG_SCALAR dg_bool dg_equal_##NAME(T x, T y) { return x == y; } \
  DG_SCALAR dg_bool dg_not_equal_##NAME(T x, T y) { return x != y; } \
  DG_SCALAR dg_bool dg_less_##NAME(T x, T y) { return x < y; } \
  DG_SCALAR dg_bool dg_less_equal_##NAME(T x, T y) { return x <= y; } \
  DG_SCALAR dg_bool dg_greater_##NAME(T x, T y) { return x > y; } \
  DG_SCALAR dg_bool dg_greater_equal_##NAME(T x, T y) { return x >= y; }

#define DG_DEFINE_WHOLE(T, NAME) \
  DG_DEFINE_ORDERED(T, NAME) \
  DG_SCALAR T dg_maximum_##NAME(T x, T y) { return x > y ? x : y; } \
  DG_SCALAR T dg_minimum_##NAME(T x, T y) { return x < y ? x : y; } \
  DG_SCALAR T dg_fmax_##NAME(T x, T y) { return x > y ? x : y; } \
  DG_SCALAR T dg_fmin_##NAME(T x, T y) { return x < y ? x : y; } \
  DG_SCALAR T dg_floor_##NAME(T x) { return x; } \
  DG_SCALAR T dg_ceil_##NAME(T x) { return x; } \
  DG_SCALAR T dg_trunc_##NAME(T x) { return x; } \
  DG_SCALAR T dg_round_##NAME(T x) { return x; } \
  DG_SCALAR dg_bool dg_isnan_##NAME(T x) { (void)x; return 0; } \
  DG_SCALAR dg_bool dg_isinf_##NAME(T x) { (void)x; return 0; } \
  DG_SCALAR dg_bool dg_isfinite_##NAME(T x) { (void)x; return 1; }

#define DG_DEFINE_SIGNED(T, U, NAME) \
  DG_DEFINE_WHOLE(T, NAME) \
  DG_SCALAR T dg_abs_##NAME(T x) { return (T)(x < 0 ? 0 - (U)x : (U)x); } \
  DG_SCALAR T dg_sign_##NAME(T x) { return (T)((x > 0) - (x < 0)); } \
  DG_SCALAR T dg_relu_##NAME(T x) { return x < 0 ? 0 : x; } \
  DG_SCALAR dg_bool dg_signbit_##NAME(T x) { return x < 0; } \
  DG_SCALAR T dg_invert_##NAME(T x) { return (T)~x; } \
  DG_SCALAR T dg_floordiv_##NAME(T x, T y) { \
    T d = y == 0 || y == -1 ? 1 : y, q = (T)(x / d), r = (T)(x % d); \
    T down = (T)(q - (r != 0 && (r < 0) != (d < 0))); \
    return y == 0 ? 0 : y == -1 ? (T)(0 - (U)x) : down; \
  } \
  DG_SCALAR T dg_mod_##NAME(T x, T y) { \
    T d = y == 0 || y == -1 ? 1 : y, r = (T)(x % d); \
    return (T)(r != 0 && (r < 0) != (d < 0) ? r + d : r); \
  } \
  DG_SCALAR T dg_shl_##NAME(T x, T y) { \
    return y < 0 || y >= (T)(8 * sizeof(T)) ? 0 : (T)((U)x << y); \
  } \
  DG_SCALAR T dg_shr_##NAME(T x, T y) { \
    T last = 8 * sizeof(T) - 1; \
    return (T)(x >> (y < 0 || y > last ? last : y)); \
  } \
  DG_SCALAR T dg_pow_##NAME(T x, T y) { /* of negative powers, the whole part */ \
    U r = 1, b = (U)x; \
    if (y < 0) return x == 1 || (x == -1 && y % 2 == 0) ? 1 : x == -1 ? -1 : 0; \
    for (; y != 0; y = (T)(y >> 1), b *= b) r = y & 1 ? r * b : r; \
    return (T)r; \
  }

#define DG_DEFINE_UNSIGNED(T, U, NAME) \
  DG_DEFINE_WHOLE(T, NAME) \
  DG_SCALAR T dg_abs_##NAME(T x) { return x; } \
  DG_SCALAR T dg_sign_##NAME(T x) { return x != 0; } \
  DG_SCALAR T dg_relu_##NAME(T x) { return x; } \
  DG_SCALAR dg_bool dg_signbit_##NAME(T x) { (void)x; return 0; } \
  DG_SCALAR T dg_invert_##NAME(T x) { return (T)~x; } \
  DG_SCALAR T dg_floordiv_##NAME(T x, T y) { return y == 0 ? 0 : (T)(x / (y == 0 ? 1 : y)); } \
  DG_SCALAR T dg_mod_##NAME(T x, T y) { return (T)(x % (y == 0 ? 1 : y)); } \
  DG_SCALAR T dg_shl_##NAME(T x, T y) { return y >= 8 * sizeof(T) ? 0 : (T)((U)x << y); } \
  DG_SCALAR T dg_shr_##NAME(T x, T y) { return y >= 8 * sizeof(T) ? 0 : (T)(x >> y); } \
  DG_SCALAR T dg_pow_##NAME(T x, T y) { \
    U r = 1, b = x; \
    for (; y != 0; y = (T)(y >> 1), b *= b) r = y & 1 ? r * b : r; \
    return (T)r; \
  }

DG_DEFINE_WHOLE(dg_bool, bool)
DG_SCALAR dg_bool dg_abs_bool(dg_bool x) { return x; }
DG_SCALAR dg_bool dg_invert_bool(dg_bool x) { return !x; }
DG_DEFINE_SIGNED(int8_t, uint32_t, int8)
DG_DEFINE_SIGNED(int16_t, uint32_t, int16)
DG_DEFINE_SIGNED(int32_t, uint32_t, int32)
DG_DEFINE_SIGNED(int64_t, uint64_t, int64)
DG_DEFINE_UNSIGNED(uint8_t, uint32_t, uint8)
DG_DEFINE_UNSIGNED(uint16_t, uint32_t, uint16)
DG_DEFINE_UNSIGNED(uint32_t, uint32_t, uint32)
DG_DEFINE_UNSIGNED(uint64_t, uint64_t, uint64)

/* int64 with uint64, which no wider type holds. */

DG_SCALAR dg_bool dg_equal_mixed(int64_t x, uint64_t y) { return x >= 0 && (uint64_t)x == y; }
DG_SCALAR dg_bool dg_less_mixed(int64_t x, uint64_t y) { return x < 0 || (uint64_t)x < y; }
DG_SCALAR dg_bool dg_less_equal_mixed(int64_t x, uint64_t y) { return x < 0 || (uint64_t)x <= y; }
DG_SCALAR dg_bool dg_not_equal_mixed(int64_t x, uint64_t y) { return !dg_equal_mixed(x, y); }
DG_SCALAR dg_bool dg_greater_mixed(int64_t x, uint64_t y) { return !dg_less_equal_mixed(x, y); }
DG_SCALAR dg_bool dg_greater_equal_mixed(int64_t x, uint64_t y) { return !dg_less_mixed(x, y); }
DG_SCALAR dg_bool dg_equal_swapped(uint64_t x, int64_t y) { return dg_equal_mixed(y, x); }
DG_SCALAR dg_bool dg_not_equal_swapped(uint64_t x, int64_t y) { return !dg_equal_mixed(y, x); }
DG_SCALAR dg_bool dg_less_swapped(uint64_t x, int64_t y) { return !dg_less_equal_mixed(y, x); }
DG_SCALAR dg_bool dg_less_equal_swapped(uint64_t x, int64_t y) { return !dg_less_mixed(y, x); }
DG_SCALAR dg_bool dg_greater_swapped(uint64_t x, int64_t y) { return dg_less_mixed(y, x); }
DG_SCALAR dg_bool dg_greater_equal_swapped(uint64_t x, int64_t y) { return dg_less_equal_mixed(y, x); }

/* Floats; S is the suffix of C's own functions. */

#define DG_DEFINE_REAL(T, S, NAME) \
  DG_DEFINE_ORDERED(T, NAME) \
  DG_SCALAR dg_bool dg_isnan_##NAME(T x) { return x != x; } \
  DG_SCALAR dg_bool dg_isinf_##NAME(T x) { return fabs##S(x) == (T)INFINITY; } \
  DG_SCALAR dg_bool dg_isfinite_##NAME(T x) { return fabs##S(x) < (T)INFINITY; } \
  DG_SCALAR dg_bool dg_signbit_##NAME(T x) { return dg_bits_##NAME(x) >> (8 * sizeof(T) - 1); } \
  DG_SCALAR T dg_maximum_##NAME(T x, T y) { return ((x > y) | (x != x)) ? x : y; } \
  DG_SCALAR T dg_minimum_##NAME(T x, T y) { return ((x < y) | (x != x)) ? x : y; } \
  DG_SCALAR T dg_fmax_##NAME(T x, T y) { return ((x >= y) | (y != y)) ? x : y; } \
  DG_SCALAR T dg_fmin_##NAME(T x, T y) { return ((x <= y) | (y != y)) ? x : y; } \
  DG_SCALAR T dg_relu_##NAME(T x) { return x < 0 ? 0 : x; } \
  DG_SCALAR T dg_abs_##NAME(T x) { return fabs##S(x); } \
  DG_SCALAR T dg_sign_##NAME(T x) { return x != x ? x : (T)((x > 0) - (x < 0)); } \
  DG_SCALAR T dg_copysign_##NAME(T x, T y) { return copysign##S(x, y); } \
  DG_SCALAR T dg_nextafter_##NAME(T x, T y) { return nextafter##S(x, y); } \
  DG_SCALAR T dg_floor_##NAME(T x) { return floor##S(x); } \
  DG_SCALAR T dg_ceil_##NAME(T x) { return ceil##S(x); } \
  DG_SCALAR T dg_trunc_##NAME(T x) { return trunc##S(x); } \
  DG_SCALAR T dg_round_##NAME(T x) { return rint##S(x); } \
  DG_SCALAR T dg_mod_##NAME(T x, T y) { \
    T r = fmod##S(x, y); \
    T signed_like_y = r == 0 ? copysign##S((T)0, y) : (r < 0) != (y < 0) ? r + y : r; \
    return y == 0 ? r : signed_like_y; \
  } \
  DG_SCALAR T dg_floordiv_##NAME(T x, T y) { \
    T r = fmod##S(x, y), exact = (x - r) / y; \
    T q = r != 0 && (r < 0) != (y < 0) ? exact - 1 : exact, below = floor##S(q); \
    T whole = q - below > (T)0.5 ? below + 1 : below; \
    return y == 0 ? x / y : q == 0 ? copysign##S((T)0, x / y) : whole; \
  }
DG_DEFINE_REAL(float, f, float32)
DG_DEFINE_REAL(double, , float64)

/* The names by type: _Generic in C, overloads in C++. */

#ifndef __cplusplus

#define DG_WHOLES_OF(f) \
  int8_t: dg_##f##_int8, int16_t: dg_##f##_int16, int32_t: dg_##f##_int32, int64_t: dg_##f##_int64, \
  uint8_t: dg_##f##_uint8, uint16_t: dg_##f##_uint16, uint32_t: dg_##f##_uint32, uint64_t: dg_##f##_uint64
#define DG_REALS_OF(f) float: dg_##f##_float32, double: dg_##f##_float64
#define DG_ANY(f, x) _Generic((x), dg_bool: dg_##f##_bool, DG_WHOLES_OF(f), DG_REALS_OF(f))
#define DG_NUMBER(f, x) _Generic((x), DG_WHOLES_OF(f), DG_REALS_OF(f))
#define DG_BITS(f, x) _Generic((x), dg_bool: dg_##f##_bool, DG_WHOLES_OF(f))
#define DG_WHOLE(f, x) _Generic((x), DG_WHOLES_OF(f))
#define DG_REAL(f, x) _Generic((x), DG_REALS_OF(f))
#define DG_WIDE_REAL(f, x) _Generic((x), DG_REALS_OF(f) DG_16_OF(f))
#define DG_PAIR(f, x, y) \
  _Generic((x), int64_t: _Generic((y), uint64_t: dg_##f##_mixed, default: dg_##f##_int64), \
    uint64_t: _Generic((y), int64_t: dg_##f##_swapped, default: dg_##f##_uint64), \
    int8_t: dg_##f##_int8, int16_t: dg_##f##_int16, int32_t: dg_##f##_int32, dg_bool: dg_##f##_bool, \
    uint8_t: dg_##f##_uint8, uint16_t: dg_##f##_uint16, uint32_t: dg_##f##_uint32, DG_REALS_OF(f))

#define dg_abs(x) _Generic((x), dg_bool: dg_abs_bool, DG_WHOLES_OF(abs), DG_REALS_OF(abs) DG_16_OF(abs))(x)
#define dg_floor(x) DG_ANY(floor, x)(x)
#define dg_ceil(x) DG_ANY(ceil, x)(x)
#define dg_trunc(x) DG_ANY(trunc, x)(x)
#define dg_round(x) DG_ANY(round, x)(x)
#define dg_isnan(x) DG_ANY(isnan, x)(x)
#define dg_isinf(x) DG_ANY(isinf, x)(x)
#define dg_isfinite(x) DG_ANY(isfinite, x)(x)
#define dg_sign(x) DG_NUMBER(sign, x)(x)
#define dg_signbit(x) DG_NUMBER(signbit, x)(x)
#define dg_relu(x) _Generic((x), DG_WHOLES_OF(relu), DG_REALS_OF(relu) DG_16_OF(relu))(x)
#define dg_invert(x) DG_BITS(invert, x)(x)

#define dg_maximum(x, y) DG_ANY(maximum, x)(x, y)
#define dg_minimum(x, y) DG_ANY(minimum, x)(x, y)
#define dg_fmax(x, y) DG_ANY(fmax, x)(x, y)
#define dg_fmin(x, y) DG_ANY(fmin, x)(x, y)
#define dg_floordiv(x, y) DG_NUMBER(floordiv, x)(x, y)
#define dg_mod(x, y) DG_NUMBER(mod, x)(x, y)
#define dg_shl(x, y) DG_WHOLE(shl, x)(x, y)
#define dg_shr(x, y) DG_WHOLE(shr, x)(x, y)
#define dg_copysign(x, y) DG_REAL(copysign, x)(x, y)
#define dg_nextafter(x, y) DG_REAL(nextafter, x)(x, y)

#define dg_equal(x, y) DG_PAIR(equal, x, y)(x, y)
#define dg_not_equal(x, y) DG_PAIR(not_equal, x, y)(x, y)
#define dg_less(x, y) DG_PAIR(less, x, y)(x, y)
#define dg_less_equal(x, y) DG_PAIR(less_equal, x, y)(x, y)
#define dg_greater(x, y) DG_PAIR(greater, x, y)(x, y)
#define dg_greater_equal(x, y) DG_PAIR(greater_equal, x, y)(x, y)

#else

#define DG_ONE(f, T, NAME) DG_SCALAR auto dg_##f(T x) { return dg_##f##_##NAME(x); }
#define DG_TWO(f, T, NAME) DG_SCALAR auto dg_##f(T x, T y) { return dg_##f##_##NAME(x, y); }
#define DG_REAL(form, f) form(f, float, float32) form(f, double, float64)
#define DG_WHOLE(form, f) \
  form(f, int8_t, int8) form(f, int16_t, int16) form(f, int32_t, int32) form(f, int64_t, int64) \
  form(f, uint8_t, uint8) form(f, uint16_t, uint16) form(f, uint32_t, uint32) form(f, uint64_t, uint64)
#define DG_NUMBER(form, f) DG_WHOLE(form, f) DG_REAL(form, f)
#define DG_BITS(form, f) DG_WHOLE(form, f) form(f, dg_bool, bool)
#define DG_ANY(form, f) DG_NUMBER(form, f) form(f, dg_bool, bool)
#define DG_PAIR(form, f) DG_ANY(form, f) \
  DG_SCALAR dg_bool dg_##f(int64_t x, uint64_t y) { return dg_##f##_mixed(x, y); } \
  DG_SCALAR dg_bool dg_##f(uint64_t x, int64_t y) { return dg_##f##_swapped(x, y); }

DG_ANY(DG_ONE, abs) DG_ANY(DG_ONE, floor) DG_ANY(DG_ONE, ceil) DG_ANY(DG_ONE, trunc) DG_ANY(DG_ONE, round)
DG_ANY(DG_ONE, isnan) DG_ANY(DG_ONE, isinf) DG_ANY(DG_ONE, isfinite) DG_NUMBER(DG_ONE, sign)
DG_NUMBER(DG_ONE, signbit) DG_NUMBER(DG_ONE, relu) DG_BITS(DG_ONE, invert)
DG_ANY(DG_TWO, maximum) DG_ANY(DG_TWO, minimum) DG_ANY(DG_TWO, fmax) DG_ANY(DG_TWO, fmin) DG_NUMBER(DG_TWO, floordiv)
DG_NUMBER(DG_TWO, mod) DG_WHOLE(DG_TWO, shl) DG_WHOLE(DG_TWO, shr) DG_REAL(DG_TWO, copysign)
DG_REAL(DG_TWO, nextafter)
DG_PAIR(DG_TWO, equal) DG_PAIR(DG_TWO, not_equal) DG_PAIR(DG_TWO, less) DG_PAIR(DG_TWO, less_equal)
DG_PAIR(DG_TWO, greater) DG_PAIR(DG_TWO, greater_equal)

#endif
#endif
