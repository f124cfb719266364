/* Hyperbolic functions, inverse ones and roots, for float and double: on polynomials near 0, and on exp and log. */
#ifndef DG_MATHS_INVERSE_H
#define DG_MATHS_INVERSE_H

#include "maths32.h"
#include "maths64.h"

/* With z = a^2: sinh(a) = a + a z p for a <= 1, atan(a) for a <= 1, asin(a) for a <= 1/2. */

/* Relative error of sinh 2^-34. */
DG_SCALAR float dg_sinh_near_0_float32(float z) {
  float p = 0x1.7a15b4p-19f;
  p = DG_FMA32(p, z, 0x1.9ffe92p-13f);
  p = DG_FMA32(p, z, 0x1.111134p-7f);
  return DG_FMA32(p, z, 0x1.555556p-3f);
}

/* Relative error of sinh 2^-63. */
DG_SCALAR double dg_sinh_near_0_float64(double z) {
  double p = 0x1.b4b300f795519p-41;
  p = DG_FMA64(p, z, 0x1.611aa031dfba6p-33);
  p = DG_FMA64(p, z, 0x1.ae6466457fa01p-26);
  p = DG_FMA64(p, z, 0x1.71de3a478fb41p-19);
  p = DG_FMA64(p, z, 0x1.a01a01a026ca5p-13);
  p = DG_FMA64(p, z, 0x1.11111111110bbp-7);
  return DG_FMA64(p, z, 0x1.5555555555556p-3);
}

/* Relative error of atan 2^-28. */
DG_SCALAR float dg_atan_near_0_float32(float z) {
  float p = -0x1.ee7ec8p-10f;
  p = DG_FMA32(p, z, 0x1.73d0a6p-7f);
  p = DG_FMA32(p, z, -0x1.0653ep-5f);
  p = DG_FMA32(p, z, 0x1.e2218cp-5f);
  p = DG_FMA32(p, z, -0x1.5a7f38p-4f);
  p = DG_FMA32(p, z, 0x1.c1739cp-4f);
  p = DG_FMA32(p, z, -0x1.2438b2p-3f);
  p = DG_FMA32(p, z, 0x1.999474p-3f);
  return DG_FMA32(p, z, -0x1.55554ap-2f);
}

/* Relative error of atan 2^-60. */
DG_SCALAR double dg_atan_near_0_float64(double z) {
  double p = -0x1.348d74e3e978cp-17;
  p = DG_FMA64(p, z, 0x1.cbec1f5eca55ap-14);
  p = DG_FMA64(p, z, -0x1.45e5a578c839ap-11);
  p = DG_FMA64(p, z, 0x1.258a1cfa9ee7cp-9);
  p = DG_FMA64(p, z, -0x1.7c0298b89c659p-8);
  p = DG_FMA64(p, z, 0x1.7c508000d73d3p-7);
  p = DG_FMA64(p, z, -0x1.3689e0c3fc2d8p-6);
  p = DG_FMA64(p, z, 0x1.b18a55fff844ap-6);
  p = DG_FMA64(p, z, -0x1.0e64410b1209fp-5);
  p = DG_FMA64(p, z, 0x1.3a0a6890248c8p-5);
  p = DG_FMA64(p, z, -0x1.5f991db64f6ep-5);
  p = DG_FMA64(p, z, 0x1.84dd7689f356bp-5);
  p = DG_FMA64(p, z, -0x1.aee5a489a2a7dp-5);
  p = DG_FMA64(p, z, 0x1.e1d6ef200eea1p-5);
  p = DG_FMA64(p, z, -0x1.1110640a94999p-4);
  p = DG_FMA64(p, z, 0x1.3b13a1b60999ep-4);
  p = DG_FMA64(p, z, -0x1.745d164fea9c3p-4);
  p = DG_FMA64(p, z, 0x1.c71c71bd671c5p-4);
  p = DG_FMA64(p, z, -0x1.2492492476e36p-3);
  p = DG_FMA64(p, z, 0x1.999999999957dp-3);
  return DG_FMA64(p, z, -0x1.5555555555554p-2);
}

/* Relative error of asin 2^-32. */
DG_SCALAR float dg_asin_near_0_float32(float z) {
  float p = 0x1.31e42ap-5f;
  p = DG_FMA32(p, z, 0x1.ddbc6p-7f);
  p = DG_FMA32(p, z, 0x1.043834p-5f);
  p = DG_FMA32(p, z, 0x1.6cbb7cp-5f);
  p = DG_FMA32(p, z, 0x1.333814p-4f);
  return DG_FMA32(p, z, 0x1.55554ep-3f);
}

/* Relative error of asin 2^-60. */
DG_SCALAR double dg_asin_near_0_float64(double z) {
  double p = 0x1.06f10d98407afp-5;
  p = DG_FMA64(p, z, -0x1.496afd6fd5845p-6);
  p = DG_FMA64(p, z, 0x1.58bd922b97ffdp-6);
  p = DG_FMA64(p, z, 0x1.05f0e0adad3afp-8);
  p = DG_FMA64(p, z, 0x1.5e8eb96d6df43p-7);
  p = DG_FMA64(p, z, 0x1.76091500da78dp-7);
  p = DG_FMA64(p, z, 0x1.ca0e1d932f331p-7);
  p = DG_FMA64(p, z, 0x1.1c4abc8b62642p-6);
  p = DG_FMA64(p, z, 0x1.6e8bd23a90d35p-6);
  p = DG_FMA64(p, z, 0x1.f1c71b175a2f5p-6);
  p = DG_FMA64(p, z, 0x1.6db6db707c2f1p-5);
  p = DG_FMA64(p, z, 0x1.3333333330acbp-4);
  return DG_FMA64(p, z, 0x1.555555555555dp-3);
}


#define DG_INVERSE(T, S, NAME, FMA, PI_2, PI_2_LOW, LOG_2, LARGE) \
  DG_SCALAR T dg_sinh_##NAME(T x) { \
    T a = fabs##S(x), h = dg_exp_times_##NAME(a, -1), z = a * a; \
    return copysign##S(a < 1 ? FMA(a * z, dg_sinh_near_0_##NAME(z), a) : h - (T)0.25 / h, x); \
  } \
  DG_SCALAR T dg_cosh_##NAME(T x) { \
    T h = dg_exp_times_##NAME(fabs##S(x), -1); \
    return h + (T)0.25 / h; \
  } \
  DG_SCALAR T dg_atan_##NAME(T x) { /* atan(a) = pi/2 - atan(1/a) */ \
    T a = fabs##S(x), t = a > 1 ? 1 / a : a, z = t * t, y = FMA(t * z, dg_atan_near_0_##NAME(z), t); \
    return copysign##S(a > 1 ? PI_2 - (y - PI_2_LOW) : y, x); \
  } \
  DG_SCALAR T dg_atan2_##NAME(T x, T y) { /* of the point (y, x) */ \
    T a = fabs##S(x), b = fabs##S(y), quotient = a > b ? b / a : a / b; \
    T t = a != b ? quotient : a == 0 ? 0 : 1, z = t * t; \
    T steep = FMA(t * z, dg_atan_near_0_##NAME(z), t); \
    T first = a > b ? PI_2 - (steep - PI_2_LOW) : steep; \
    return copysign##S(dg_signbit_##NAME(y) ? 2 * PI_2 - (first - 2 * PI_2_LOW) : first, x); \
  } \
  DG_SCALAR T dg_asin_##NAME(T x) { /* asin(a) = pi/2 - 2 asin(sqrt((1 - a) / 2)) */ \
    T a = fabs##S(x), z = a > (T)0.5 ? (1 - a) * (T)0.5 : a * a, t = a > (T)0.5 ? sqrt##S(z) : a; \
    T y = FMA(t * z, dg_asin_near_0_##NAME(z), t); \
    return copysign##S(a > (T)0.5 ? PI_2 - (2 * y - PI_2_LOW) : y, x); \
  } \
  DG_SCALAR T dg_acos_##NAME(T x) { \
    T a = fabs##S(x), z = a > (T)0.5 ? (1 - a) * (T)0.5 : a * a, t = a > (T)0.5 ? sqrt##S(z) : a; \
    T y = FMA(t * z, dg_asin_near_0_##NAME(z), t); \
    T outer = x < 0 ? 2 * PI_2 - (2 * y - 2 * PI_2_LOW) : 2 * y; \
    return a > (T)0.5 ? outer : PI_2 - (copysign##S(y, x) - PI_2_LOW); \
  } \
  DG_SCALAR T dg_asinh_##NAME(T x) { /* log(a + sqrt(1 + a^2)), and log(2 a) where a^2 would overflow */ \
    T a = fabs##S(x), s = a * a, t = a > LARGE ? a : a + s / (1 + sqrt##S(1 + s)); \
    return copysign##S(dg_log1p_##NAME(t) + (a > LARGE ? LOG_2 : 0), x); \
  } \
  DG_SCALAR T dg_acosh_##NAME(T x) { \
    T a = x - 1, t = x > LARGE ? x : a + sqrt##S(a * (a + 2)); \
    return x < 1 ? (T)NAN : dg_log1p_##NAME(t) + (x > LARGE ? LOG_2 : 0); \
  } \
  DG_SCALAR T dg_atanh_##NAME(T x) { \
    T a = fabs##S(x); \
    return copysign##S((T)0.5 * dg_log1p_##NAME(2 * a / (1 - a)), x); \
  }
DG_INVERSE(float, f, float32, DG_FMA32, 0x1.921fb6p0f, -0x1.777a5cp-25f, 0x1.62e43p-1f, 0x1p30f)
DG_INVERSE(double, , float64, DG_FMA64, 0x1.921fb54442d18p0, 0x1.1a62633145c07p-54, 0x1.62e42fefa39efp-1, 0x1p60)

DG_SCALAR float dg_hypot_float32(float x, float y) {
  float found = (float)sqrt((double)x * x + (double)y * y);
  return fabsf(x) == INFINITY || fabsf(y) == INFINITY ? INFINITY : found;
}

DG_SCALAR double dg_hypot_float64(double x, double y) { /* scaled where squares would overflow, or lose bits */
  double a = fabs(x), b = fabs(y), most = a > b ? a : b;
  double scale = most > 0x1p500 ? 0x1p-600 : most < 0x1p-400 ? 0x1p600 : 1, p = a * scale, q = b * scale;
  double found = sqrt(DG_FMA64(p, p, q * q)) * (most > 0x1p500 ? 0x1p600 : most < 0x1p-400 ? 0x1p-600 : 1);
  return a == INFINITY || b == INFINITY ? INFINITY : found;
}

DG_SCALAR float dg_cbrt_float32(float x) {
  float a = fabsf(x), y = (float)dg_exp2_float64(dg_log2_wide_float32(a) * 0x1.5555555555555p-2);
  return copysignf(a == 0 || !(a < INFINITY) ? a : y, x);
}

DG_SCALAR double dg_cbrt_float64(double x) { /* a step of Newton's, with y^3 - a in full, from an y of 40 bits */
  double a = fabs(x), b = a < 0x1p-900 ? a * 0x1p600 : a;
  double y = dg_exp2_float64(dg_log2_float64(b) * 0x1.5555555555555p-2), y2 = y * y, y3 = y2 * y;
  double over = (y3 - b) + dg_product_rest(y2, y, y3) + dg_product_rest(y, y, y2) * y;
  double found = (y - over / (3 * y2)) * (a < 0x1p-900 ? 0x1p-200 : 1);
  return copysign(a == 0 || !(a < INFINITY) ? a : found, x);
}

#endif
