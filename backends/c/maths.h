/* Functions of floats by name: dg_exp(x) is dg_exp_float32 or dg_exp_float64, by the type of x.

   Nothing has branches or calls, so that loops vectorise. Infinities, nan and zeros, with their signs, are NumPy's.
   Errors are at most these, in units in the last place, over the whole range: subnormal and huge arguments and
   results, also sines of 1e300.

              float  double              float  double              float  double              float  double
     exp      1      1.1        tanh     2.6    2.6        sin, cos 2      1          asinh    2      2
     expm1    1.5    2          sigmoid  2.6    2.6        tan      4      2.5        acosh    2.5    2.6
     exp2     1      1.1        erf      2.2    2.2        asin     2.5    2.5        atanh    2.2    2.2
     log      1      1          sinh     2      2          acos     1.5    1.5        hypot    0.6    1.2
     log2     1.2    1.2        cosh     1.6    1.6        atan     2      2          pow      0.6    1.5
     log10    1.1    1.1        log1p    1.6    1.6        atan2    2.5    2.5        cbrt     0.6    1

   Without fused multiply-add log2, log10 and pow are within 2, exp2 within 1.3. Compile with -fno-math-errno
   -fno-trapping-math -fwrapv -ffp-contract=off, never with -ffast-math. */
#ifndef DG_MATHS_H
#define DG_MATHS_H

#include "maths32.h"
#include "maths64.h"
#include "maths_inverse.h"
#include "scalar.h"

/* x y + z, rounded once where the processor does so. */
DG_SCALAR float dg_fma_float32(float x, float y, float z) { return DG_FMA32(x, y, z); }
DG_SCALAR double dg_fma_float64(double x, double y, double z) { return DG_FMA64(x, y, z); }
DG_SCALAR float dg_sqrt_float32(float x) { return sqrtf(x); }
DG_SCALAR double dg_sqrt_float64(double x) { return sqrt(x); }
#define DG_COMPOSED(T, S, NAME) \
  DG_SCALAR T dg_silu_##NAME(T x) { return x * dg_sigmoid_##NAME(x); } \
  DG_SCALAR T dg_softplus_##NAME(T x) { \
    return dg_maximum_##NAME(x, 0) + dg_log1p_##NAME(dg_exp_##NAME(-fabs##S(x))); \
  } \
  DG_SCALAR T dg_logaddexp_##NAME(T x, T y) { /* inf - inf is nan: equal infinities differ by 0 */ \
    T apart = x == y ? 0 : fabs##S(x - y); \
    return dg_maximum_##NAME(x, y) + dg_log1p_##NAME(dg_exp_##NAME(-apart)); \
  } \
  DG_SCALAR T dg_gelu_none_##NAME(T x) { return (T)0.5 * x * (1 + dg_erf_##NAME(x * (T)0.70710678118654752)); } \
  DG_SCALAR T dg_gelu_tanh_##NAME(T x) { /* (1 + tanh(u)) / 2 = sigmoid(2u), without cancellation */ \
    return x * dg_sigmoid_##NAME((T)1.5957691216057308 * (x + (T)0.044715 * x * x * x)); \
  } \
  DG_SCALAR T dg_leaky_relu_##NAME(T x, double slope) { /* 0 times infinity is nan */ \
    return x < 0 ? (slope == 0 ? 0 : x * (T)slope) : x; \
  } \
  DG_SCALAR T dg_deg2rad_##NAME(T x) { return x * (T)0.017453292519943295; } \
  DG_SCALAR T dg_rad2deg_##NAME(T x) { return x * (T)57.295779513082321; }
DG_COMPOSED(float, f, float32)
DG_COMPOSED(double, , float64)

#ifndef __cplusplus

#define dg_fma(x, y, z) _Generic((z), float: dg_fma_float32, double: dg_fma_float64 DG_16_OF(fma))(x, y, z)
#define dg_exp(x) DG_WIDE_REAL(exp, x)(x)
#define dg_exp2(x) DG_REAL(exp2, x)(x)
#define dg_expm1(x) DG_REAL(expm1, x)(x)
#define dg_log(x) DG_WIDE_REAL(log, x)(x)
#define dg_log2(x) DG_REAL(log2, x)(x)
#define dg_log10(x) DG_REAL(log10, x)(x)
#define dg_log1p(x) DG_REAL(log1p, x)(x)
#define dg_sin(x) DG_WIDE_REAL(sin, x)(x)
#define dg_cos(x) DG_WIDE_REAL(cos, x)(x)
#define dg_tan(x) DG_REAL(tan, x)(x)
#define dg_sinh(x) DG_REAL(sinh, x)(x)
#define dg_cosh(x) DG_REAL(cosh, x)(x)
#define dg_tanh(x) DG_WIDE_REAL(tanh, x)(x)
#define dg_asinh(x) DG_REAL(asinh, x)(x)
#define dg_acosh(x) DG_REAL(acosh, x)(x)
#define dg_atanh(x) DG_REAL(atanh, x)(x)
#define dg_asin(x) DG_REAL(asin, x)(x)
#define dg_acos(x) DG_REAL(acos, x)(x)
#define dg_atan(x) DG_REAL(atan, x)(x)
#define dg_erf(x) DG_REAL(erf, x)(x)
#define dg_sqrt(x) DG_WIDE_REAL(sqrt, x)(x)
#define dg_cbrt(x) DG_REAL(cbrt, x)(x)
#define dg_sigmoid(x) DG_WIDE_REAL(sigmoid, x)(x)
#define dg_silu(x) DG_WIDE_REAL(silu, x)(x)
#define dg_softplus(x) DG_REAL(softplus, x)(x)
#define dg_gelu_none(x) DG_REAL(gelu_none, x)(x)
#define dg_gelu_tanh(x) DG_WIDE_REAL(gelu_tanh, x)(x)
#define dg_deg2rad(x) DG_REAL(deg2rad, x)(x)
#define dg_rad2deg(x) DG_REAL(rad2deg, x)(x)
#define dg_atan2(x, y) DG_REAL(atan2, x)(x, y)
#define dg_hypot(x, y) DG_REAL(hypot, x)(x, y)
#define dg_logaddexp(x, y) DG_REAL(logaddexp, x)(x, y)
#define dg_leaky_relu(x, slope) DG_REAL(leaky_relu, x)(x, slope)
#define dg_pow(x, y) DG_NUMBER(pow, x)(x, y)

#else

DG_REAL(DG_ONE, exp) DG_REAL(DG_ONE, exp2) DG_REAL(DG_ONE, expm1) DG_REAL(DG_ONE, log) DG_REAL(DG_ONE, log2)
DG_REAL(DG_ONE, log10) DG_REAL(DG_ONE, log1p) DG_REAL(DG_ONE, sin) DG_REAL(DG_ONE, cos) DG_REAL(DG_ONE, tan)
DG_REAL(DG_ONE, sinh) DG_REAL(DG_ONE, cosh) DG_REAL(DG_ONE, tanh) DG_REAL(DG_ONE, asinh) DG_REAL(DG_ONE, acosh)
DG_REAL(DG_ONE, atanh) DG_REAL(DG_ONE, asin) DG_REAL(DG_ONE, acos) DG_REAL(DG_ONE, atan) DG_REAL(DG_ONE, erf)
DG_REAL(DG_ONE, sqrt) DG_REAL(DG_ONE, cbrt) DG_REAL(DG_ONE, sigmoid) DG_REAL(DG_ONE, silu) DG_REAL(DG_ONE, softplus)
DG_REAL(DG_ONE, gelu_none) DG_REAL(DG_ONE, gelu_tanh) DG_REAL(DG_ONE, deg2rad) DG_REAL(DG_ONE, rad2deg)
DG_REAL(DG_TWO, atan2) DG_REAL(DG_TWO, hypot) DG_REAL(DG_TWO, logaddexp) DG_NUMBER(DG_TWO, pow)
DG_SCALAR float dg_leaky_relu(float x, double slope) { return dg_leaky_relu_float32(x, slope); }
DG_SCALAR double dg_leaky_relu(double x, double slope) { return dg_leaky_relu_float64(x, slope); }

#endif
#endif
