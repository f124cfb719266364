/* Random words: Philox4x32-10 (Salmon, Moraes, Dror, Shaw: "Parallel random numbers: as easy as 1, 2, 3", SC 2011). */
#ifndef DG_PHILOX_H
#define DG_PHILOX_H

#include "loops.h"

enum { DG_BLOCKS = 64, DG_WORDS = 4 * DG_BLOCKS };

/* The words of DG_BLOCKS blocks from `first` on, in order: four of each block, whose number is its first counter. */
DG_FN void dg_philox(uint64_t key, uint64_t counter, uint32_t id, int64_t first, uint32_t *restrict words) {
  uint32_t a[DG_BLOCKS], b[DG_BLOCKS], c[DG_BLOCKS], d[DG_BLOCKS];
  uint32_t k0 = (uint32_t)key, k1 = (uint32_t)(key >> 32);
  for (int i = 0; i < DG_BLOCKS; i++) {
    a[i] = (uint32_t)first + (uint32_t)i;
    b[i] = id;
    c[i] = (uint32_t)counter;
    d[i] = (uint32_t)(counter >> 32);
  }
  for (int round = 0; round < 10; round++) {
    for (int i = 0; i < DG_BLOCKS; i++) {
      const uint64_t p = (uint64_t)a[i] * 0xD2511F53u, q = (uint64_t)c[i] * 0xCD9E8D57u;
      const uint32_t even = (uint32_t)(q >> 32) ^ b[i] ^ k0, odd = (uint32_t)(p >> 32) ^ d[i] ^ k1;
      a[i] = even;
      b[i] = (uint32_t)q;
      c[i] = odd;
      d[i] = (uint32_t)p;
    }
    k0 += 0x9E3779B9u;
    k1 += 0xBB67AE85u;
  }
  for (int i = 0; i < DG_BLOCKS; i++) {
    words[4 * i] = a[i];
    words[4 * i + 1] = b[i];
    words[4 * i + 2] = c[i];
    words[4 * i + 3] = d[i];
  }
}

/* A pair of words as one number, the former in front: its leading 53 bits. */
DG_SCALAR int64_t dg_long_word(const uint32_t *words, int64_t k) {
  return (int64_t)(((uint64_t)words[2 * k] << 32 | words[2 * k + 1]) >> 11);
}

/* Uniforms of a precision below 32 bits, and of 53: multiples of their last place in [0, 1). */
DG_SCALAR float dg_uniform(uint32_t word, int bits) { return (float)(int32_t)(word >> (32 - bits)) / (float)(1u << bits); }
DG_SCALAR double dg_long_uniform(int64_t word) { return (double)word * 0x1p-53; }

/* Normals of two uniforms each (Box and Muller, 1958), step by step in their own precision. */
DG_FN void dg_normals(const uint32_t *restrict words, float *restrict y) {
  for (int i = 0; i < DG_WORDS / 2; i++) {
    const float u = (float)words[2 * i] * 0x1p-32f + 0x1p-33f;
    const float angle = (float)words[2 * i + 1] * (float)(6.283185307179586 * 0x1p-32);
    const float radius = dg_sqrt_float32(-2.0f * dg_log_float32(u));
    y[2 * i] = radius * dg_cos_float32(angle);
    y[2 * i + 1] = radius * dg_sin_float32(angle);
  }
}

DG_FN void dg_long_normals(const uint32_t *restrict words, double *restrict y) {
  for (int i = 0; i < DG_WORDS / 4; i++) {
    const double u = (double)dg_long_word(words, 2 * i) * 0x1p-53 + 0x1p-54;
    const double angle = (double)dg_long_word(words, 2 * i + 1) * (6.283185307179586 * 0x1p-53);
    const double radius = dg_sqrt_float64(-2.0 * dg_log_float64(u));
    y[2 * i] = radius * dg_cos_float64(angle);
    y[2 * i + 1] = radius * dg_sin_float64(angle);
  }
}

#endif
