/* Functions of float: polynomials without branches, so that loops over them vectorise. Bounds: see maths.h.

   Coefficients are minimax fits (Remez exchange in 70 digits), rounded; by each stand what it fits, where, and its
   relative error before rounding. */
#ifndef DG_MATHS32_H
#define DG_MATHS32_H

#include "scalar.h"
#include "two_over_pi.h"

#if defined(__FP_FAST_FMAF) || defined(__FMA__) || defined(__ARM_FEATURE_FMA) || defined(__CUDACC__)
#define DG_FMA32(a, b, c) fmaf(a, b, c)
#define DG_FMA64(a, b, c) fma(a, b, c)
#define DG_HAS_FMA 1
#else
#define DG_FMA32(a, b, c) ((a) * (b) + (c))
#define DG_FMA64(a, b, c) ((a) * (b) + (c))
#define DG_HAS_FMA 0
#endif

/* A function defined as DG_PLAIN(name) and then named by DG_WIDE(name) has another form for vectors of AVX-512, in
   maths512.inc, which then takes its place: dg_<name>_float32 calls that, and else is the plain one. */
#if DG_AVX512
#define DG_PLAIN(name) dg_##name##_plain
#define DG_WIDE(name) float dg_##name##_float32(float) __attribute__((const, simd("notinbranch"), visibility("hidden")));
#else
#define DG_PLAIN(name) dg_##name##_float32
#define DG_WIDE(name)
#endif

/* 2 to the power of a whole number from -126 to 127. */
DG_SCALAR float dg_two_to_float32(float n) { return dg_float32_of(dg_bits_float32(n + (0x1.8p23f + 127)) << 23); }

/* y times 2^n, 0.7 < y < 1.5, n from -151 to 129. A subnormal is so many times the least one: that number, rounded once
   by adding 2^23, is its bits. To multiply instead would be right too, but is slow on many processors. */
DG_SCALAR float dg_scaled_float32(float y, float n) {
  float v = y * dg_two_to_float32(n < -126 ? n + 149 : n > 127 ? n - 1 : n);
  float subnormal = dg_float32_of(dg_bits_float32(v + 0x1p23f) - 0x4b000000);
  return n < -126 ? subnormal : n > 127 ? 2 * v : v;
}

/* exp(r) - 1 for |r| <= log(2)/2: relative error 2^-31. */
DG_SCALAR float dg_expm1_near_0_float32(float r) {
  float p = 0x1.a1a92cp-13f;
  p = DG_FMA32(p, r, 0x1.6d7b7cp-10f);
  p = DG_FMA32(p, r, 0x1.11108ap-7f);
  p = DG_FMA32(p, r, 0x1.5554a8p-5f);
  p = DG_FMA32(p, r, 0x1.555556p-3f);
  p = DG_FMA32(p, r, 0.5f);
  return DG_FMA32(r * r, p, r);
}

/* x - n log(2), for n = rint(x / log(2)). */
DG_SCALAR float dg_without_log2_float32(float x, float n) {
  return DG_FMA32(n, -0x1.7f7d1cp-20f, DG_FMA32(n, -0x1.62e4p-1f, x));
}

/* exp(x) times 2^k, k from -1 to 0. */
DG_SCALAR float dg_exp_times_float32(float x, int k) {
  float y = x < -104 ? -104 : x > 89 - k ? 89 - k : x;
  float n = rintf(y * 0x1.715476p0f), r = dg_without_log2_float32(y, n);
  return dg_scaled_float32(1 + dg_expm1_near_0_float32(r), n + k);
}

/* As above with k = 0, which is most of what exp is for: n = rint(x / log(2)) is the end of the bits of a sum. */
DG_SCALAR float DG_PLAIN(exp)(float x) {
  float sum = DG_FMA32(x, 0x1.715476p0f, 0x1.8p23f), n = sum - 0x1.8p23f;
  float y = 1 + dg_expm1_near_0_float32(dg_without_log2_float32(x, n));
  uint32_t u = dg_bits_float32(y) + (dg_bits_float32(sum) << 23);
  float subnormal = dg_float32_of(dg_bits_float32(dg_float32_of(u + (149u << 23)) + 0x1p23f) - 0x4b000000);
  float v = x < -87.33654f ? subnormal : dg_float32_of(u);
  float positive = x > 88.72283f ? INFINITY : v;
  return x != x ? x : x < -104 ? 0 : positive;
}
DG_WIDE(exp)

DG_SCALAR float dg_expm1_float32(float x) {
  float y = x < -18 ? -18 : x > 89 ? 89 : x;
  float n = rintf(y * 0x1.715476p0f), r = dg_without_log2_float32(y, n);
  float half = dg_two_to_float32(n - 1); /* 2^128 would be infinite */
  return copysignf(2 * DG_FMA32(half, dg_expm1_near_0_float32(r), half - 0.5f), x);
}

/* 2^r = 1 + r p, |r| <= 1/2: relative error 2^-28. */
DG_SCALAR float dg_exp2_float32(float x) {
  float y = x < -151 ? -151 : x > 129 ? 129 : x, n = rintf(y), r = y - n;
  float p = 0x1.4497ap-13f;
  p = DG_FMA32(p, r, 0x1.5f50b2p-10f);
  p = DG_FMA32(p, r, 0x1.3b29ap-7f);
  p = DG_FMA32(p, r, 0x1.c6aebep-5f);
  p = DG_FMA32(p, r, 0x1.ebfbep-3f);
  p = DG_FMA32(p, r, 0x1.62e43p-1f);
  return dg_scaled_float32(DG_FMA32(p, r, 1), n);
}

/* x = 2^n (1 + f), sqrt(1/2) <= 1 + f < sqrt(2), for x > 0. */
DG_SCALAR float dg_split_float32(float x, float *n) {
  float normal = x < 0x1p-126f ? x * 0x1p24f : x;
  uint32_t u = dg_bits_float32(normal) - 0x3f3504f3, m = (u & 0x7fffff) + 0x3f3504f3;
  *n = (float)((int32_t)u >> 23) - (x < 0x1p-126f ? 24 : 0);
  return dg_float32_of(m) - 1;
}

/* log(1 + f) - f = f^2 (f r - 1/2), f as above: relative error 2^-30. */
DG_SCALAR float dg_log1p_rest_float32(float f) {
  float p = 0x1.1457ap-4f;
  p = DG_FMA32(p, f, -0x1.de3c18p-4f);
  p = DG_FMA32(p, f, 0x1.e6f07p-4f);
  p = DG_FMA32(p, f, -0x1.fc2208p-4f);
  p = DG_FMA32(p, f, 0x1.233768p-3f);
  p = DG_FMA32(p, f, -0x1.555c4ep-3f);
  p = DG_FMA32(p, f, 0x1.99a4b6p-3f);
  p = DG_FMA32(p, f, -0x1.000006p-2f);
  p = DG_FMA32(p, f, 0x1.555548p-2f);
  return f * f * DG_FMA32(p, f, -0.5f);
}

/* The logarithm y that was found for x, but for those x that have none. */
DG_SCALAR float dg_log_range_float32(float x, float y, float least) {
  float inside = x == least ? -INFINITY : x < INFINITY ? y : x; /* infinity and nan stay */
  return x < least ? NAN : inside;
}

DG_SCALAR float DG_PLAIN(log)(float x) {
  float n, f = dg_split_float32(x, &n), rest = dg_log1p_rest_float32(f);
  float low = DG_FMA32(n, 0x1.7f7d1cp-20f, rest);
  return dg_log_range_float32(x, DG_FMA32(n, 0x1.62e4p-1f, f + low), 0);
}
DG_WIDE(log)

/* The logarithm to another base: n whole + (f + rest) scale, the factors in two parts. */
#define DG_LOG_BASE32(scale, scale_low, whole, whole_low) \
  float n, f = dg_split_float32(x, &n), rest = dg_log1p_rest_float32(f); \
  float low = DG_FMA32(n, whole_low, DG_FMA32(f, scale_low, rest * scale)); \
  return dg_log_range_float32(x, DG_FMA32(n, whole, DG_FMA32(f, scale, low)), 0);

DG_SCALAR float dg_log2_float32(float x) { DG_LOG_BASE32(0x1.715476p0f, 0x1.4ae0cp-26f, 1, 0) }
DG_SCALAR float dg_log10_float32(float x) {
  DG_LOG_BASE32(0x1.bcb7b2p-2f, -0x1.5b235ep-27f, 0x1.344p-2f, 0x1.3509f8p-18f)
}

DG_SCALAR float dg_log1p_float32(float x) {
  float u = 1 + x, lost = x - (u - 1), n, m = dg_split_float32(u, &n);
  float f = n < 64 ? DG_FMA32(lost, dg_two_to_float32(n < 64 ? -n : 0), m) : m;
  float low = DG_FMA32(n, 0x1.7f7d1cp-20f, dg_log1p_rest_float32(f));
  return copysignf(dg_log_range_float32(x, DG_FMA32(n, 0x1.62e4p-1f, f + low), -1), x);
}

/* e / (e + 2), e = expm1(2 |x|), whose exponent is found as exp's. */
DG_SCALAR float DG_PLAIN(tanh)(float x) {
  float a = fabsf(x), y = 2 * (a > 10 ? 10 : a);
  float sum = DG_FMA32(y, 0x1.715476p0f, 0x1.8p23f), power = dg_float32_of((dg_bits_float32(sum) + 127) << 23);
  float p = dg_expm1_near_0_float32(dg_without_log2_float32(y, sum - 0x1.8p23f));
  float e = DG_FMA32(power, p, power - 1);
  return copysignf(e / (e + 2), x);
}
DG_WIDE(tanh)

/* 1 / (1 + exp(-x)), without overflow. */
DG_SCALAR float DG_PLAIN(sigmoid)(float x) {
  float e = dg_exp_float32(-fabsf(x));
  return (x < 0 ? e : 1) / (1 + e);
}
DG_WIDE(sigmoid)

/* erf = 1 - exp(-a p), a = |x|: p, a polynomial in a, may be inexact where exp is small. Relative error 2^-30. */
DG_SCALAR float dg_erf_float32(float x) {
  float a = fabsf(x), b = a > 3.95f ? 3.95f : a;
  float p = 0x1.45bcb2p-20f;
  p = DG_FMA32(p, b, -0x1.6991a2p-16f);
  p = DG_FMA32(p, b, 0x1.60d47ep-13f);
  p = DG_FMA32(p, b, -0x1.851d92p-11f);
  p = DG_FMA32(p, b, 0x1.d81896p-10f);
  p = DG_FMA32(p, b, -0x1.0a2e72p-12f);
  p = DG_FMA32(p, b, -0x1.3938ep-6f);
  p = DG_FMA32(p, b, 0x1.a4f384p-4f);
  p = DG_FMA32(p, b, 0x1.45f308p-1f);
  p = DG_FMA32(p, b, -0x1.fa994ep-25f);
  return copysignf(dg_expm1_float32(-DG_FMA32(b, 0x1.20dd76p0f, b * p)), x);
}

/* x less whole quarter turns, whose number is found modulo 4: right for every float, the largest too. */
DG_SCALAR float dg_turned_float32(float x, uint32_t *quarter) {
  int64_t exponent = dg_bits_float32(x) >> 23 & 0xff, row = exponent < 151 ? 0 : exponent - 151;
  double turns = x * dg_two_over_pi_upper[row], whole = turns + 0x1.8p52; /* exact */
  double part = DG_FMA64((double)x, dg_two_over_pi_lower[row], turns - (whole - 0x1.8p52));
  *quarter = (uint32_t)dg_bits_float64(whole);
  return (float)(part * 0x1.921fb54442d18p0);
}

/* Sine and cosine after so many quarter turns and r more, |r| <= pi/4: relative errors 2^-37 and 2^-33. */
DG_SCALAR float dg_sin_cos_float32(float x, float *cosine) {
  uint32_t quarter;
  float r = dg_turned_float32(x, &quarter), z = r * r, s = 0x1.6cd5ecp-19f, c = 0x1.99ff4p-16f;
  s = DG_FMA32(s, z, -0x1.a00f94p-13f);
  s = DG_FMA32(s, z, 0x1.111108p-7f);
  s = DG_FMA32(s, z, -0x1.555556p-3f);
  c = DG_FMA32(c, z, -0x1.6c0c82p-10f);
  c = DG_FMA32(c, z, 0x1.55554ap-5f);
  float near_0 = DG_FMA32(r * z, s, r), near_1 = DG_FMA32(z * z, c, DG_FMA32(z, -0.5f, 1));
  *cosine = dg_float32_of(dg_bits_float32(quarter & 1 ? near_0 : near_1) ^ ((quarter + 1) & 2) << 30);
  return dg_float32_of(dg_bits_float32(quarter & 1 ? near_1 : near_0) ^ (quarter & 2) << 30);
}

DG_SCALAR float DG_PLAIN(sin)(float x) {
  float cosine, sine = dg_sin_cos_float32(x, &cosine);
  return fabsf(x) < 0x1p-12f ? x : sine;
}
DG_WIDE(sin)

DG_SCALAR float DG_PLAIN(cos)(float x) {
  float cosine;
  dg_sin_cos_float32(x, &cosine);
  return cosine;
}
DG_WIDE(cos)

DG_SCALAR float dg_tan_float32(float x) {
  float cosine, sine = dg_sin_cos_float32(x, &cosine);
  return fabsf(x) < 0x1p-12f ? x : sine / cosine;
}

/* log2(1 + f) / f, f from sqrt(1/2) - 1 to sqrt(2) - 1: relative error 2^-41. */
DG_SCALAR double dg_log2_wide_float32(float x) {
  uint64_t u = dg_bits_float64(x) - 0x3fe6a09e00000000 + ((uint64_t)1023 << 52);
  double n = dg_float64_of(u >> 52 | 0x4330000000000000) - (0x1p52 + 1023);
  double f = dg_float64_of((u & 0xfffffffffffff) + 0x3fe6a09e00000000) - 1;
  double p = 0x1.02caf88cb9825p-4;
  p = DG_FMA64(p, f, -0x1.f9f0f657378b7p-4);
  p = DG_FMA64(p, f, 0x1.024d174d77a21p-3);
  p = DG_FMA64(p, f, -0x1.e9fc7d85ed074p-4);
  p = DG_FMA64(p, f, 0x1.087cb08c2512bp-3);
  p = DG_FMA64(p, f, -0x1.272ba143d3da4p-3);
  p = DG_FMA64(p, f, 0x1.488d06e47325p-3);
  p = DG_FMA64(p, f, -0x1.715b8d6b51364p-3);
  p = DG_FMA64(p, f, 0x1.a61546650e603p-3);
  p = DG_FMA64(p, f, -0x1.ec7061e04267ap-3);
  p = DG_FMA64(p, f, 0x1.2776c940deb4fp-2);
  p = DG_FMA64(p, f, -0x1.715476b4438edp-2);
  p = DG_FMA64(p, f, 0x1.ec709dbd23bd6p-2);
  p = DG_FMA64(p, f, -0x1.715476528d463p-1);
  p = DG_FMA64(p, f, 0x1.71547652b89ep0);
  return DG_FMA64(p, f, n);
}

/* 2^(y log2 |x|) in double: 2^r = 1 + r p to 2^-34; then the cases of C99, F.9.4.4. */
DG_SCALAR float dg_pow_float32(float x, float y) {
  float a = fabsf(x);
  double log = a == 0 ? (double)-INFINITY : a < INFINITY ? dg_log2_wide_float32(a) : (double)a;
  double z = y * log, w = z < -200 ? -200 : z > 200 ? 200 : z, n = rint(w), r = w - n;
  double p = 0x1.00f690ca574b7p-16;
  p = DG_FMA64(p, r, 0x1.4465491b0ac5bp-13);
  p = DG_FMA64(p, r, 0x1.5d871acf166a2p-10);
  p = DG_FMA64(p, r, 0x1.3b29e8f2f00cep-7);
  p = DG_FMA64(p, r, 0x1.c6b08dfc6def5p-5);
  p = DG_FMA64(p, r, 0x1.ebfbe082c06abp-3);
  p = DG_FMA64(p, r, 0x1.62e42fef78195p-1);
  p = DG_FMA64(p, r, 1);
  float size = (float)(p * dg_float64_of(dg_bits_float64(n + (0x1.8p52 + 1023)) << 52));
  float half = y * 0.5f, real = x < 0 && a < INFINITY && floorf(y) != y ? NAN : size;
  uint32_t odd = floorf(y) == y && floorf(half) != half, sign = odd ? dg_bits_float32(x) & (uint32_t)1 << 31 : 0;
  return y == 0 || x == 1 || (a == 1 && fabsf(y) == INFINITY) ? 1 : dg_float32_of(dg_bits_float32(real) | sign);
}

#if DG_AVX512
#include "maths512.inc"
#endif

#endif
