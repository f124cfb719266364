/* Indices that a step reads: what is out of range, and where the others point. */
#ifndef DG_INDEXING_H
#define DG_INDEXING_H

#include "loops.h"

/* Is it outside [low, n)? As unsigned numbers what lies below the range lies above it. */
DG_SCALAR dg_bool dg_outside(int64_t index, int64_t low, int64_t n) {
  return (uint64_t)index - (uint64_t)low >= (uint64_t)n - (uint64_t)low;
}

/* Counted from the front. */
DG_SCALAR int64_t dg_position(int64_t index, int64_t n) { return index < 0 ? index + n : index; }

/* Note that of indices between two of them, which there are, one is out of range, if so: the least if that is. */
DG_FN int dg_refused(dg_call *call, int64_t check, int64_t least, int64_t greatest, int64_t low, int64_t n) {
  const int64_t found = dg_outside(least, low, n) ? least : greatest;
  if (!dg_outside(found, low, n)) return 0;
  dg_fault(call, check, found, n);
  return 1;
}

#endif
