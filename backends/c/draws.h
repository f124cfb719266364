/* Random words and normals of many blocks at a time, which the compiler makes side by side. */
#ifndef DG_DRAWS_H
#define DG_DRAWS_H

#include "philox.h"

enum { DG_BLOCKS = 64, DG_WORDS = 4 * DG_BLOCKS };

/* The words of DG_BLOCKS blocks from `first` on, in order. */
DG_FN void dg_draw(uint64_t key, uint64_t counter, uint32_t id, int64_t first, uint32_t *restrict words) {
  uint32_t a[DG_BLOCKS], b[DG_BLOCKS], c[DG_BLOCKS], d[DG_BLOCKS];
  for (int i = 0; i < DG_BLOCKS; i++) {
    a[i] = (uint32_t)first + (uint32_t)i;
    b[i] = id;
    c[i] = (uint32_t)counter;
    d[i] = (uint32_t)(counter >> 32);
  }
  for (int round = 0; round < 10; round++)
    for (int i = 0; i < DG_BLOCKS; i++) dg_philox_round(key, round, &a[i], &b[i], &c[i], &d[i]);
  for (int i = 0; i < DG_BLOCKS; i++) {
    words[4 * i] = a[i];
    words[4 * i + 1] = b[i];
    words[4 * i + 2] = c[i];
    words[4 * i + 3] = d[i];
  }
}

DG_FN void dg_draw_normals(const uint32_t *restrict words, float *restrict y) {
  for (int i = 0; i < DG_WORDS / 2; i++) dg_normals(words + 2 * i, y + 2 * i);
}

DG_FN void dg_draw_long_normals(const uint32_t *restrict words, double *restrict y) {
  for (int i = 0; i < DG_WORDS / 4; i++) dg_long_normals(words + 4 * i, y + 2 * i);
}

#endif
