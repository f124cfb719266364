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

#endif
