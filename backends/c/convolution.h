/* Convolutions of images whose batch is innermost in memory: (channel, row, column, image).

   Pixels of a row and their images are one axis, along which vectors run: the input of one place of the window is the
   same stretch of memory for all of them, shifted. Where the window steps or reaches over the border, each thread first
   packs the rows it needs: with zeros around, and columns that one place of the window visits side by side. */
#ifndef DG_CONVOLUTION_H
#define DG_CONVOLUTION_H

#include "vector.h"

/* One axis: place k of the window of result u is input (u * up + k * hole + shift) / down, where that is whole and inside. */
typedef struct dg_axis {
  int64_t inputs, results, places, up, down, hole, shift;
} dg_axis;

typedef struct dg_windows {
  int64_t images, groups, in, out; /* in, out: channels of a group */
  dg_axis row, column;
} dg_windows;

/* What the weights step by in memory. */
typedef struct dg_steps {
  int64_t group, in, out, row, column;
} dg_steps;

enum {
  DG_PLACES = 1024, /* of a window, at most */
  DG_RUN = 2048     /* products that a lane's sum of the gradient by weights runs over, times lanes, before others add up */
};

DG_INLINE int64_t dg_below(int64_t a, int64_t b) { return a / b - (a % b < 0); } /* of a / b, b > 0 */

/* The first and the last input that result u sees, before the border cuts off. */
DG_INLINE int64_t dg_first(dg_axis a, int64_t u) {
  return -dg_below(-(u * a.up + dg_min((a.places - 1) * a.hole, 0) + a.shift), a.down);
}
DG_INLINE int64_t dg_last(dg_axis a, int64_t u) {
  return dg_below(u * a.up + dg_max((a.places - 1) * a.hole, 0) + a.shift, a.down);
}

/* The input at place k of result u, or -1. */
DG_INLINE int64_t dg_input(dg_axis a, int64_t u, int64_t k) {
  const int64_t at = u * a.up + k * a.hole + a.shift;
  return at >= 0 && at % a.down == 0 && at / a.down < a.inputs ? at / a.down : -1;
}

/* Rows as the loops see them: as they are, or packed, where a place of the window finds the inputs of results that
   lie side by side also side by side: `width` columns from `lowest` on, for each column modulo `up`. */
typedef struct dg_rows {
  int64_t lowest, width, held; /* rows held at a time */
  int64_t pitch, channel;      /* elements of a row, of a channel */
  int packed;
} dg_rows;

/* Results of a row that are u = phase, phase + down, ... */
DG_INLINE int64_t dg_steps_of(dg_axis a, int64_t phase) { return (a.results - phase + a.down - 1) / a.down; }

/* The column that place k sees of the first of these results, in steps of `up`, and the rest; false if none. */
DG_INLINE int dg_column(dg_axis a, int64_t phase, int64_t k, int64_t *column, int64_t *rest) {
  const int64_t whole = phase * a.up + k * a.hole + a.shift, seen = dg_below(whole, a.down);
  *column = dg_below(seen, a.up);
  *rest = seen - *column * a.up;
  return whole == seen * a.down;
}

DG_INLINE dg_rows dg_rows_of(dg_windows how, int64_t held, int packed) {
  const dg_axis a = how.column;
  if (!packed)
    return (dg_rows){0, a.inputs, how.row.inputs, a.inputs * how.images, how.row.inputs * a.inputs * how.images, 0};
  int64_t low = INT64_MAX, high = INT64_MIN, column, rest;
  for (int64_t phase = 0; phase < a.down; phase++)
    for (int64_t k = 0; k < a.places; k++)
      if (dg_column(a, phase, k, &column, &rest)) low = dg_min(low, column), high = dg_max(high, column);
  const int64_t width = high - low + dg_steps_of(a, 0), pitch = width * a.up * how.images;
  return (dg_rows){low, width, held, pitch, held * pitch, 1};
}

/* Does every window lie inside the columns, and step by one? */
DG_INLINE int dg_inside(dg_axis a) { return a.up == 1 && a.down == 1 && dg_first(a, 0) >= 0 && dg_last(a, a.results - 1) < a.inputs; }

/* So many of n, at most `most`, that all blocks are about as large. */
#define DG_EVEN(n, most) (((n) + ((n) + (most) - 1) / (most) - 1) / (((n) + (most) - 1) / (most)))
enum { DG_OUT = 6, DG_OUT_OF_PAIRS = 4, DG_PLACES_OF_PAIRS = DG_REGISTERS == 32 ? 6 : 2 };

#define T float
#define NAME float32
#include "convolution.inc"
#undef T
#undef NAME
#define T double
#define NAME float64
#include "convolution.inc"
#undef T
#undef NAME

#endif
