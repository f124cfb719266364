/* Functions of double, built as those of float in maths32.h. Bounds: see maths.h. */
#ifndef DG_MATHS64_H
#define DG_MATHS64_H

#include "maths32.h"

/* 2 to the power of a whole number from -1022 to 1023. */
DG_SCALAR double dg_two_to_float64(double n) { return dg_float64_of(dg_bits_float64(n + (0x1.8p52 + 1023)) << 52); }

/* y times 2^n, 0.7 < y < 1.5, n from -1076 to 1025. */
DG_SCALAR double dg_scaled_float64(double y, double n) {
  double v = y * dg_two_to_float64(n < -1022 ? n + 1074 : n > 1023 ? n - 1 : n);
  double subnormal = dg_float64_of(dg_bits_float64(v + 0x1p52) - 0x4330000000000000);
  return n < -1022 ? subnormal : n > 1023 ? 2 * v : v;
}

/* exp(r) - 1 for |r| <= log(2)/2: relative error 2^-61. */
DG_SCALAR double dg_expm1_near_0_float64(double r) {
  double p = 0x1.1f98bfa144ecap-29;
  p = DG_FMA64(p, r, 0x1.af63bc27ecc3dp-26);
  p = DG_FMA64(p, r, 0x1.27e4c37218634p-22);
  p = DG_FMA64(p, r, 0x1.71ddf5abd26eap-19);
  p = DG_FMA64(p, r, 0x1.a01a01b1bd157p-16);
  p = DG_FMA64(p, r, 0x1.a01a01b0db8cap-13);
  p = DG_FMA64(p, r, 0x1.6c16c16c141p-10);
  p = DG_FMA64(p, r, 0x1.111111110f484p-7);
  p = DG_FMA64(p, r, 0x1.555555555555bp-5);
  p = DG_FMA64(p, r, 0x1.5555555555559p-3);
  p = DG_FMA64(p, r, 0.5);
  return DG_FMA64(r * r, p, r);
}

/* x - n log(2), for n = rint(x / log(2)). */
DG_SCALAR double dg_without_log2_float64(double x, double n) {
  return DG_FMA64(n, 0x1.8432a1b0e2634p-43, DG_FMA64(n, -0x1.62e42fefa4p-1, x));
}

/* exp(x) times 2^k, k from -1 to 0. */
DG_SCALAR double dg_exp_times_float64(double x, int k) {
  double y = x < -746 ? -746 : x > 710 - k ? 710 - k : x;
  double n = rint(y * 0x1.71547652b82fep0), r = dg_without_log2_float64(y, n);
  return dg_scaled_float64(1 + dg_expm1_near_0_float64(r), n + k);
}

DG_SCALAR double dg_exp_float64(double x) { return dg_exp_times_float64(x, 0); }

DG_SCALAR double dg_expm1_float64(double x) {
  double y = x < -38 ? -38 : x > 710 ? 710 : x;
  double n = rint(y * 0x1.71547652b82fep0), r = dg_without_log2_float64(y, n);
  double half = dg_two_to_float64(n - 1);
  return copysign(2 * DG_FMA64(half, dg_expm1_near_0_float64(r), half - 0.5), x);
}

/* 2^r = 1 + r p, |r| <= 1/2: relative error 2^-64. */
DG_SCALAR double dg_exp2_near_0_float64(double r) {
  double p = 0x1.c4e06d975c04ep-36;
  p = DG_FMA64(p, r, 0x1.ea0a6cd8e188ep-32);
  p = DG_FMA64(p, r, 0x1.e4cee3e8720bp-28);
  p = DG_FMA64(p, r, 0x1.b524d759b49a4p-24);
  p = DG_FMA64(p, r, 0x1.62c0224eda321p-20);
  p = DG_FMA64(p, r, 0x1.ffcbfc77b274cp-17);
  p = DG_FMA64(p, r, 0x1.430912f86886ap-13);
  p = DG_FMA64(p, r, 0x1.5d87fe78a1d23p-10);
  p = DG_FMA64(p, r, 0x1.3b2ab6fba4e83p-7);
  p = DG_FMA64(p, r, 0x1.c6b08d704a0d2p-5);
  p = DG_FMA64(p, r, 0x1.ebfbdff82c58fp-3);
  p = DG_FMA64(p, r, 0x1.62e42fefa39efp-1);
  return DG_FMA64(p, r, 1);
}

DG_SCALAR double dg_exp2_float64(double x) {
  double y = x < -1076 ? -1076 : x > 1025 ? 1025 : x, n = rint(y);
  return dg_scaled_float64(dg_exp2_near_0_float64(y - n), n);
}

/* x = 2^n (1 + f), sqrt(1/2) <= 1 + f < sqrt(2), for x > 0. The number n is made by the bits of 2^52 + n. */
DG_SCALAR double dg_split_float64(double x, double *n) {
  double normal = x < 0x1p-1022 ? x * 0x1p54 : x;
  uint64_t u = dg_bits_float64(normal) + 0x95f6200000000; /* 1 less sqrt(1/2), in bits */
  *n = dg_float64_of(u >> 52 | 0x4330000000000000) - (x < 0x1p-1022 ? 0x1p52 + 1077 : 0x1p52 + 1023);
  return dg_float64_of((u & 0xfffffffffffff) + 0x3fe6a09e00000000) - 1;
}

/* log(1 + f) - f, from s = f / (2 + f): log(1 + f) = 2 atanh(s) = 2s + s z p, z = s^2. Relative error 2^-59. */
DG_SCALAR double dg_log1p_rest_float64(double f) {
  double s = f / (2 + f), z = s * s, half = 0.5 * f * f;
  double p = 0x1.2eabd821f8dbfp-3;
  p = DG_FMA64(p, z, 0x1.39ab7fbf97a62p-3);
  p = DG_FMA64(p, z, 0x1.7465d2bf45c4bp-3);
  p = DG_FMA64(p, z, 0x1.c71c5462009a9p-3);
  p = DG_FMA64(p, z, 0x1.2492493e8ce52p-2);
  p = DG_FMA64(p, z, 0x1.999999998495bp-2);
  p = DG_FMA64(p, z, 0x1.555555555557fp-1);
  return DG_FMA64(s, DG_FMA64(p, z, half), -half);
}

/* The logarithm y that was found for x, but for those x that have none. */
DG_SCALAR double dg_log_range_float64(double x, double y, double least) {
  double inside = x == least ? -INFINITY : x < INFINITY ? y : x;
  return x < least ? NAN : inside;
}

DG_SCALAR double dg_log_float64(double x) {
  double n, f = dg_split_float64(x, &n);
  double low = DG_FMA64(n, -0x1.8432a1b0e2634p-43, dg_log1p_rest_float64(f));
  return dg_log_range_float64(x, DG_FMA64(n, 0x1.62e42fefa4p-1, f + low), 0);
}

#define DG_LOG_BASE64(scale, scale_low, whole, whole_low) \
  double n, f = dg_split_float64(x, &n), rest = dg_log1p_rest_float64(f); \
  double low = DG_FMA64(n, whole_low, DG_FMA64(f, scale_low, rest * scale)); \
  return dg_log_range_float64(x, DG_FMA64(n, whole, DG_FMA64(f, scale, low)), 0);

DG_SCALAR double dg_log2_float64(double x) { DG_LOG_BASE64(0x1.71547652b82fep0, 0x1.777d0ffda0d24p-56, 1, 0) }
DG_SCALAR double dg_log10_float64(double x) {
  DG_LOG_BASE64(0x1.bcb7b1526e50ep-2, 0x1.95355baaafad3p-57, 0x1.34413509f8p-2, -0x1.80433b83b532ap-44)
}

DG_SCALAR double dg_log1p_float64(double x) {
  double u = 1 + x, lost = x - (u - 1), n, m = dg_split_float64(u, &n);
  double f = n < 64 ? DG_FMA64(lost, dg_two_to_float64(n < 64 ? -n : 0), m) : m;
  double low = DG_FMA64(n, -0x1.8432a1b0e2634p-43, dg_log1p_rest_float64(f));
  return copysign(dg_log_range_float64(x, DG_FMA64(n, 0x1.62e42fefa4p-1, f + low), -1), x);
}

DG_SCALAR double dg_tanh_float64(double x) {
  double a = fabs(x), e = dg_expm1_float64(2 * (a > 20 ? 20 : a));
  return copysign(e / (e + 2), x);
}

DG_SCALAR double dg_sigmoid_float64(double x) {
  double e = dg_exp_float64(-fabs(x));
  return (x < 0 ? e : 1) / (1 + e);
}

/* erf = 1 - exp(-a p), a = |x| <= 5.95: relative error 2^-59. */
DG_SCALAR double dg_erf_float64(double x) {
  double a = fabs(x), b = a > 5.95 ? 5.95 : a;
  double p = -0x1.af96f4c0284aep-65;
  p = DG_FMA64(p, b, 0x1.2aefe22d509f3p-59);
  p = DG_FMA64(p, b, -0x1.ce367245a38aap-56);
  p = DG_FMA64(p, b, -0x1.efda9ecb19cd3p-52);
  p = DG_FMA64(p, b, 0x1.861d51daf3e07p-46);
  p = DG_FMA64(p, b, -0x1.df6ac44df721bp-42);
  p = DG_FMA64(p, b, 0x1.7f82744839c25p-38);
  p = DG_FMA64(p, b, -0x1.c232becdcb38bp-35);
  p = DG_FMA64(p, b, 0x1.984f6c6f284b8p-32);
  p = DG_FMA64(p, b, -0x1.25b0ea6f97a6dp-29);
  p = DG_FMA64(p, b, 0x1.52ece6cc3c456p-27);
  p = DG_FMA64(p, b, -0x1.393988e996a7ep-25);
  p = DG_FMA64(p, b, 0x1.c62ba7f4dd588p-24);
  p = DG_FMA64(p, b, -0x1.e4db129d99472p-23);
  p = DG_FMA64(p, b, 0x1.2d9595807ee37p-22);
  p = DG_FMA64(p, b, 0x1.2518571107ef4p-23);
  p = DG_FMA64(p, b, -0x1.970492b7f35bfp-20);
  p = DG_FMA64(p, b, 0x1.61168faa1bd23p-19);
  p = DG_FMA64(p, b, 0x1.dd2cda7062bcfp-19);
  p = DG_FMA64(p, b, -0x1.f41a1d48758acp-16);
  p = DG_FMA64(p, b, 0x1.0ea79a0884325p-14);
  p = DG_FMA64(p, b, 0x1.b1f64354eb93ep-16);
  p = DG_FMA64(p, b, -0x1.3564e669fa0b9p-11);
  p = DG_FMA64(p, b, 0x1.bca672b2acfb3p-10);
  p = DG_FMA64(p, b, -0x1.b6b683847baa1p-13);
  p = DG_FMA64(p, b, -0x1.39668595066b7p-6);
  p = DG_FMA64(p, b, 0x1.a4f4e2a1b4d3bp-4);
  p = DG_FMA64(p, b, 0x1.45f306dc9c882p-1);
  p = DG_FMA64(p, b, 0x1.1ae664e455c08p-56);
  return copysign(dg_expm1_float64(-DG_FMA64(b, 0x1.20dd750429b6dp0, b * p)), x);
}

/* What rounding a * b to p left out; and the sum of two, with what its rounding left out. */
DG_SCALAR double dg_product_rest(double a, double b, double p) {
#if DG_HAS_FMA
  return fma(a, b, -p);
#else
  const uint64_t upper = 0xfffffffff8000000; /* halves, whose products are exact */
  double c = dg_float64_of(dg_bits_float64(a) & upper), d = dg_float64_of(dg_bits_float64(b) & upper);
  return (a - c) * (b - d) + ((c * d - p) + c * (b - d) + (a - c) * d);
#endif
}

DG_SCALAR double dg_sum(double a, double b, double *rest) {
  double s = a + b, c = s - a;
  *rest = (a - (s - c)) + (b - c);
  return s;
}

DG_SCALAR double dg_modulo_4(double x) { return x - 4 * rint(x * 0.25); }

/* x less whole quarter turns, in two parts, and their number modulo 4. Four windows of 48 bits of 2/pi begin where x
   times the bits before gives whole turns; 177 bits of product are right where 2^-60 of a turn may be left. */
DG_SCALAR double dg_turned_float64(double x, double *low, uint64_t *quarter) {
  uint64_t exponent = dg_bits_float64(x) >> 52 & 0x7ff, k = (exponent < 1077 ? 0 : exponent - 1077) >> 4;
  double w0 = dg_two_over_pi_windows[k], w1 = dg_two_over_pi_windows[k + 3];
  double w2 = dg_two_over_pi_windows[k + 6], w3 = dg_two_over_pi_windows[k + 9];
  double y = x * 0x1p-200, p0 = y * w0, p1 = y * w1, p2 = y * w2, p3 = y * w3;
  double r0 = dg_product_rest(y, w0, p0), r1 = dg_product_rest(y, w1, p1), r2 = dg_product_rest(y, w2, p2);
  double l0, l1, l2, l3, l4, l5; /* what sums left out, each far below the sum */
  double turns = dg_sum(dg_sum(dg_modulo_4(p0), dg_modulo_4(r0), &l0), dg_modulo_4(p1), &l1);
  double whole = turns + 0x1.8p52, near = dg_sum(turns - (whole - 0x1.8p52), dg_sum(l0, l1, &l2), &l3);
  double part = dg_sum(near, dg_sum(r1, p2, &l4), &l5);
  double rest = l3 + (l5 + (l2 + l4 + r2 + p3)), r = part * 0x1.921fb54442d18p0;
  double low_part = DG_FMA64(part, 0x1.1a62633145c07p-54, rest * 0x1.921fb54442d18p0); /* pi/2 in two parts */
  *low = dg_product_rest(part, 0x1.921fb54442d18p0, r) + low_part;
  *quarter = dg_bits_float64(whole);
  return r;
}

/* Sine and cosine after so many quarter turns and r + low more, |r| <= pi/4: relative errors 2^-58 and 2^-64. */
DG_SCALAR double dg_sin_cos_float64(double x, double *cosine) {
  uint64_t quarter;
  double low, r = dg_turned_float64(x, &low, &quarter), z = r * r;
  double s = 0x1.5d98269f9bd8p-33, c = -0x1.8facd19ef6b2bp-37;
  s = DG_FMA64(s, z, -0x1.ae5e7b2ffe38dp-26);
  s = DG_FMA64(s, z, 0x1.71de3598005c6p-19);
  s = DG_FMA64(s, z, -0x1.a01a019c3ffb7p-13);
  s = DG_FMA64(s, z, 0x1.111111110fa61p-7);
  s = DG_FMA64(s, z, -0x1.555555555554bp-3);
  c = DG_FMA64(c, z, 0x1.1ee9e8914b42p-29);
  c = DG_FMA64(c, z, -0x1.27e4f80534b23p-22);
  c = DG_FMA64(c, z, 0x1.a01a019cab75dp-16);
  c = DG_FMA64(c, z, -0x1.6c16c16c1514p-10);
  c = DG_FMA64(c, z, 0x1.555555555554cp-5);
  double half = 0.5 * z, near = 1 - half;
  double near_0 = r + DG_FMA64(r * z, s, low * near);
  double near_1 = near + (DG_FMA64(z * z, c, (1 - near) - half) - r * low);
  *cosine = dg_float64_of(dg_bits_float64(quarter & 1 ? near_0 : near_1) ^ ((quarter + 1) & 2) << 62);
  return dg_float64_of(dg_bits_float64(quarter & 1 ? near_1 : near_0) ^ (quarter & 2) << 62);
}

DG_SCALAR double dg_sin_float64(double x) {
  double cosine, sine = dg_sin_cos_float64(x, &cosine);
  return fabs(x) < 0x1p-27 ? x : sine;
}

DG_SCALAR double dg_cos_float64(double x) {
  double cosine;
  dg_sin_cos_float64(x, &cosine);
  return cosine;
}

DG_SCALAR double dg_tan_float64(double x) {
  double cosine, sine = dg_sin_cos_float64(x, &cosine);
  return fabs(x) < 0x1p-27 ? x : sine / cosine;
}

/* log2(x) in two parts, to 2^-64: 2 atanh(s) = s (2 + z (2/3 + z p)), s = f / (2 + f), z = s^2; p's error is 2^-61. */
DG_SCALAR double dg_log2_twofold(double x, double *low) {
  double n, f = dg_split_float64(x, &n), d = 2 + f, inverse = 1 / d;
  double s = f * inverse, sd = s * d;
  double s1 = ((f - sd) - dg_product_rest(s, d, sd) - s * (f - (d - 2))) * inverse;
  double z = s * s, z1 = dg_product_rest(s, s, z) + 2 * s * s1;
  double p = 0x1.eb20b65e5d341p-4;
  p = DG_FMA64(p, z, 0x1.de3192215daa2p-4);
  p = DG_FMA64(p, z, 0x1.1120c168aa083p-3);
  p = DG_FMA64(p, z, 0x1.3b136267bacd7p-3);
  p = DG_FMA64(p, z, 0x1.745d183378609p-3);
  p = DG_FMA64(p, z, 0x1.c71c71c57e046p-3);
  p = DG_FMA64(p, z, 0x1.2492492493049p-2);
  p = DG_FMA64(p, z, 0x1.9999999999996p-2);
  const double two_3 = 0x1.5555555555555p-1, two_3_low = 0x1.5555555555555p-55;
  const double log2_e = 0x1.71547652b82fep0, log2_e_low = 0x1.777d0ffda0d24p-56;
  double third = z * two_3, third1 = dg_product_rest(z, two_3, third) + DG_FMA64(z, two_3_low, z1 * two_3);
  double rest = z * z * p, u = third + rest, u1 = (third - u) + rest + third1;
  double t = 2 + u, t1 = (2 - t) + u + u1;
  double l = s * t, l1 = dg_product_rest(s, t, l) + DG_FMA64(s, t1, s1 * t);
  double m = l * log2_e, m1 = dg_product_rest(l, log2_e, m) + DG_FMA64(l, log2_e_low, l1 * log2_e);
  double y = n + m;
  *low = (n - y) + m + m1;
  return y;
}

/* 2^(y log2 |x|), then the cases of C99, F.9.4.4. From |y| = 2^80 on, only the sign of the logarithm counts. */
DG_SCALAR double dg_pow_float64(double x, double y) {
  double a = fabs(x), b = fabs(y) < 0x1p80 ? y : copysign(0x1p80, y);
  double log1, log = dg_log2_twofold(a, &log1), z = b * log;
  double w = z < -1076 ? -1076 : z > 1025 ? 1025 : z, n = rint(w);
  double r = w == z ? (w - n) + (dg_product_rest(b, log, z) + b * log1) : 0;
  double size = dg_scaled_float64(dg_exp2_near_0_float64(r), n);
  double limit = (a == 0) == (y < 0) ? INFINITY : 0, half = y * 0.5;
  double found = a == 0 || a == INFINITY ? limit : x < 0 && floor(y) != y ? NAN : size;
  uint64_t odd = floor(y) == y && floor(half) != half, sign = odd ? dg_bits_float64(x) & (uint64_t)1 << 63 : 0;
  double real = x != x || y != y ? x + y : dg_float64_of(dg_bits_float64(found) | sign);
  return y == 0 || x == 1 ? 1 : real;
}

#endif
