/* Indices that a step reads: what is out of range, and where the others point. */
#ifndef DG_INDEXING_H
#define DG_INDEXING_H

#include "types.h"

/* Is it outside [low, n)? As unsigned numbers what lies below the range lies above it. */
DG_SCALAR dg_bool dg_outside(int64_t index, int64_t low, int64_t n) {
  return (uint64_t)index - (uint64_t)low >= (uint64_t)n - (uint64_t)low;
}

/* Of the least and the greatest index, the one to tell of: the least if that is out of range. */
DG_SCALAR int64_t dg_told(int64_t least, int64_t greatest, int64_t low, int64_t n) {
  return dg_outside(least, low, n) ? least : greatest;
}

/* Counted from the front. */
DG_SCALAR int64_t dg_position(int64_t index, int64_t n) { return index < 0 ? index + n : index; }

#endif
