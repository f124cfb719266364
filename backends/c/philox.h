/* Random words: Philox4x32-10 (Salmon, Moraes, Dror, Shaw: "Parallel random numbers: as easy as 1, 2, 3", SC 2011). */
#ifndef DG_PHILOX_H
#define DG_PHILOX_H

#include "maths.h"

/* One of ten rounds on the words of a block, which begin as its number, the id and both halves of the counter. */
DG_SCALAR void dg_philox_round(uint64_t key, int round, uint32_t *a, uint32_t *b, uint32_t *c, uint32_t *d) {
  const uint32_t k0 = (uint32_t)key + round * 0x9E3779B9u, k1 = (uint32_t)(key >> 32) + round * 0xBB67AE85u;
  const uint64_t p = (uint64_t)*a * 0xD2511F53u, q = (uint64_t)*c * 0xCD9E8D57u;
  const uint32_t even = (uint32_t)(q >> 32) ^ *b ^ k0, odd = (uint32_t)(p >> 32) ^ *d ^ k1;
  *a = even;
  *b = (uint32_t)q;
  *c = odd;
  *d = (uint32_t)p;
}

/* The words of a block. */
DG_SCALAR void dg_philox(uint64_t key, uint64_t counter, uint32_t id, uint32_t block, uint32_t *words) {
  uint32_t a = block, b = id, c = (uint32_t)counter, d = (uint32_t)(counter >> 32);
  for (int round = 0; round < 10; round++) dg_philox_round(key, round, &a, &b, &c, &d);
  words[0] = a;
  words[1] = b;
  words[2] = c;
  words[3] = d;
}

/* A pair of words as one number, the former in front: its leading 53 bits. */
DG_SCALAR int64_t dg_long_word(const uint32_t *words, int64_t k) {
  return (int64_t)(((uint64_t)words[2 * k] << 32 | words[2 * k + 1]) >> 11);
}

/* Uniforms of a precision below 32 bits, and of 53: multiples of their last place in [0, 1). */
DG_SCALAR float dg_uniform(uint32_t word, int bits) { return (float)(int32_t)(word >> (32 - bits)) / (float)(1u << bits); }
DG_SCALAR double dg_long_uniform(int64_t word) { return (double)word * 0x1p-53; }

/* Two normals of two words, or of two pairs of them (Box and Muller, 1958), step by step in their own precision. */
DG_SCALAR void dg_normals(const uint32_t *words, float *y) {
  const float u = (float)words[0] * 0x1p-32f + 0x1p-33f;
  const float angle = (float)words[1] * (float)(6.283185307179586 * 0x1p-32);
  const float radius = dg_sqrt_float32(-2.0f * dg_log_float32(u));
  y[0] = radius * dg_cos_float32(angle);
  y[1] = radius * dg_sin_float32(angle);
}

DG_SCALAR void dg_long_normals(const uint32_t *words, double *y) {
  const double u = (double)dg_long_word(words, 0) * 0x1p-53 + 0x1p-54;
  const double angle = (double)dg_long_word(words, 1) * (6.283185307179586 * 0x1p-53);
  const double radius = dg_sqrt_float64(-2.0 * dg_log_float64(u));
  y[0] = radius * dg_cos_float64(angle);
  y[1] = radius * dg_sin_float64(angle);
}

#endif
