/* The loops of convolutions over elements T, whose dtype is NAME: included by convolution.h for each. */

#define F(name) DG_OF(name, NAME)
#define V F(dg_v)
#define LANES F(DG_LANES)
#define FUSED F(DG_FUSED)

/* One row of one channel, packed. */
DG_FN void F(dg_pack_row)(T *to, const T *x, dg_windows how, dg_rows p) {
  const int64_t n = how.images, up = how.column.up;
  for (int64_t class = 0; class < up; class++) {
    if (up == 1) { /* one stretch, and zeros around it */
      const int64_t low = dg_min(dg_max(-p.lowest, 0), p.width);
      const int64_t high = dg_max(dg_min(how.column.inputs - p.lowest, p.width), low);
      memset(to, 0, (size_t)(low * n) * sizeof(T));
      memcpy(to + low * n, x + (p.lowest + low) * n, (size_t)((high - low) * n) * sizeof(T));
      memset(to + high * n, 0, (size_t)((p.width - high) * n) * sizeof(T));
      continue;
    }
    for (int64_t k = 0; k < p.width; k++, to += n) {
      const int64_t column = (p.lowest + k) * up + class;
      if (column >= 0 && column < how.column.inputs)
        memcpy(to, x + column * n, (size_t)n * sizeof(T));
      else
        memset(to, 0, (size_t)n * sizeof(T));
    }
  }
}

/* Rows from `low` to `high` of the channels of a group from `first` to `last`; row `base` comes first, and again after
   the last that is held. */
DG_FN void F(dg_pack_rows)(T *to, const T *x, dg_windows how, dg_rows p, int64_t first, int64_t last, int64_t base,
                           int64_t low, int64_t high) {
  const int64_t pitch = how.column.inputs * how.images;
  for (int64_t c = first; c < last; c++)
    for (int64_t r = dg_max(low, 0); r < dg_min(high, how.row.inputs); r++)
      F(dg_pack_row)(to + c * p.channel + (r - base) % p.held * p.pitch, x + (c * how.row.inputs + r) * pitch, how, p);
}

/* OUT channels times COUNT vectors of results: the sum over `in` channels and the places of a window, whose inputs
   lie `at` and weights `by`. Stores lanes from `low` to `high`, channels from `skip` on; adds to what is there. */
DG_INLINE void F(dg_tile)(const int OUT, const int COUNT, int64_t in, int64_t places, const int64_t *at, const int64_t *by,
                      const T *x, int64_t channel, const T *w, dg_steps step, T *y, int64_t result, int adds,
                      int64_t skip, int64_t low, int64_t high) {
  V sum[DG_OUT][8] = {{{0}}};
  for (int64_t c = 0; c < in; c++, x += channel, w += step.in)
    for (int64_t k = 0; k < places; k++) {
      const T *const seen = x + at[k], *const weight = w + by[k];
      V inputs[8] = {{0}};
      DG_UNROLL for (int v = 0; v < COUNT; v++) inputs[v] = F(dg_load)(seen + v * LANES);
      DG_UNROLL for (int o = 0; o < OUT; o++) {
        const V one = F(dg_spread)(weight[o * step.out]);
        DG_UNROLL for (int v = 0; v < COUNT; v++) sum[o][v] = FUSED(one, inputs[v], sum[o][v]);
      }
    }
  DG_UNROLL for (int o = 0; o < OUT; o++) {
    if (o < skip) continue;
    T *const to = y + o * result;
    if (high - low == LANES) {
      DG_UNROLL for (int v = 0; v < COUNT; v++) {
        T *const there = to + v * LANES;
        F(dg_store)(there, adds ? F(dg_load)(there) + sum[o][v] : sum[o][v]);
      }
    } else {
      T lanes[LANES];
      F(dg_store)(lanes, sum[o][0]);
      for (int64_t l = low; l < high; l++) to[l] = adds ? to[l] + lanes[l] : lanes[l];
    }
  }
}

/* Blocks of OUT channels from `first` to `last`, over `size` results side by side. */
DG_INLINE void F(dg_strip)(const int OUT, int64_t first, int64_t last, int64_t channels, int64_t in, int64_t places,
                       const int64_t *at, const int64_t *by, const T *x, int64_t channel, const T *w, dg_steps step,
                       T *y, int64_t result, int adds, int64_t size) {
  const int COUNT = DG_REGISTERS == 16 ? 2 : OUT > 2 ? 4 : 8;
  int64_t s = 0;
  for (; s + COUNT * LANES <= size; s += COUNT * LANES)
    for (int64_t b = first; b < last; b++) {
      const int64_t o = dg_min(b * OUT, channels - OUT);
      F(dg_tile)(OUT, COUNT, in, places, at, by, x + s, channel, w + o * step.out, step, y + o * result + s, result,
                 adds, b * OUT - o, 0, LANES);
    }
  while (s < size) {
    const int64_t from = dg_min(s, dg_max(size - LANES, 0)), high = dg_min(size - from, LANES);
    for (int64_t b = first; b < last; b++) {
      const int64_t o = dg_min(b * OUT, channels - OUT);
      F(dg_tile)(OUT, 1, in, places, at, by, x + from, channel, w + o * step.out, step, y + o * result + from, result,
                 adds, b * OUT - o, s - from, high);
    }
    s = from + high;
  }
}

/* This thread's rows of a convolution, in blocks of OUT channels; `held` and `spaced` are its own memory. */
DG_INLINE void F(dg_convolve)(const int OUT, int64_t me, int64_t count, dg_windows how, const T *x, const T *w,
                          dg_steps step, T *y, T *held, T *spaced) {
  enum { CACHE = 32 << 10 };
  const dg_axis a = how.column;
  const int64_t n = how.images, rows = how.row.results, pitch = a.results * n, blocks = (how.out + OUT - 1) / OUT;
  const int64_t window = (how.row.places - 1) * (how.row.hole < 0 ? -how.row.hole : how.row.hole) / how.row.down + 1;
  const int inside = dg_inside(a);
  const dg_rows p = dg_rows_of(how, window, n < LANES ? !inside || pitch < LANES : a.up > 1 && n < 4 * LANES);
  const int64_t most = dg_max(CACHE / (how.row.places * a.places * 4 * DG_VECTOR), 1);
  const int64_t chunks = (how.in + most - 1) / most, chunk = (how.in + chunks - 1) / chunks;
  const int64_t parts = dg_min(blocks, (4 * count + rows * how.groups - 1) / dg_max(rows * how.groups, 1));
  const int64_t begin = dg_share(how.groups * parts * rows, 1, me, count);
  const int64_t end = dg_share(how.groups * parts * rows, 1, me + 1, count);
  int64_t ready = 0;
  for (int64_t unit = begin; unit < end; unit++) {
    const int64_t row = unit % rows, part = unit / rows % parts, group = unit / rows / parts;
    const int64_t first = blocks * part / parts, last = blocks * (part + 1) / parts;
    const T *seen = x + group * how.in * how.row.inputs * a.inputs * n;
    if (p.packed) {
      if (unit == begin || row == 0) ready = INT64_MIN;
      ready = dg_max(ready, dg_first(how.row, row));
      F(dg_pack_rows)(held, seen, how, p, 0, how.in, 0, ready, dg_last(how.row, row) + 1);
      ready = dg_last(how.row, row) + 1;
      seen = held;
    }
    for (int64_t phase = 0; phase < a.down; phase++) {
      const int64_t steps = dg_steps_of(a, phase), result = a.down == 1 ? rows * pitch : steps * n;
      T *const whole = y + (group * how.out * rows + row) * pitch, *const to = a.down == 1 ? whole : spaced;
      int64_t next;
      for (int64_t u = 0; u < steps; u = next) { /* results up to `next` see the same places */
        int64_t at[DG_PLACES], by[DG_PLACES], places = 0, columns = 0, column[DG_PLACES], of[DG_PLACES];
        at[0] = by[0] = 0;
        next = p.packed ? steps : a.up > 1 ? u + 1 : steps;
        for (int64_t j = 0; j < a.places; j++) {
          int64_t from, rest;
          if (!dg_column(a, phase, j, &from, &rest)) continue;
          const int64_t low = -from, high = a.inputs - from; /* u that see it, if they step by one */
          if (p.packed)
            from += rest * p.width - p.lowest;
          else if (a.up > 1) {
            from = (from + u) * a.up + rest;
            if (from < 0 || from >= a.inputs) continue;
          } else {
            if (u < low) next = dg_min(next, low);
            else if (u < high) next = dg_min(next, high);
            if (u < low || u >= high) continue;
            from += u;
          }
          column[columns] = from;
          of[columns++] = j;
        }
        for (int64_t i = 0; i < how.row.places; i++) {
          const int64_t r = dg_input(how.row, row, i);
          if (r < 0) continue;
          const int64_t there = r % p.held * p.pitch;
          for (int64_t j = 0; j < columns; j++, places++) {
            at[places] = there + column[j] * n;
            by[places] = i * step.row + of[j] * step.column;
          }
        }
        for (int64_t c = 0; c < how.in; c += chunk)
          F(dg_strip)(OUT, first, last, how.out, dg_min(chunk, how.in - c), places, at, by, seen + c * p.channel,
                      p.channel, w + group * step.group + c * step.in, step, to + u * n, result, c > 0, (next - u) * n);
      }
      for (int64_t o = first * OUT; a.down > 1 && o < dg_min(last * OUT, how.out); o++)
        for (int64_t u = 0; u < steps; u++)
          memcpy(whole + o * rows * pitch + (u * a.down + phase) * n, spaced + o * steps * n + u * n,
                 (size_t)n * sizeof(T));
    }
  }
}

/* The sums of products of OUT channels of g and what COUNT places see, over rows of `size` results, which hold a vector
   even if they are less. */
DG_INLINE void F(dg_products)(const int OUT, const int COUNT, int64_t rows, int64_t size, const T *x, int64_t down,
                          const int64_t *at, const T *g, int64_t pitch, int64_t channel, T (*total)[LANES]) {
  V sum[DG_OUT_OF_PAIRS][DG_PLACES_OF_PAIRS] = {{{0}}};
  const int64_t whole = size / LANES * LANES, from = dg_max(size - LANES, 0); /* whence the last lanes are, not all new */
  const F(dg_m) mask = F(dg_lanes)(whole - from, size - from);
  for (int64_t r = 0; r < rows; r++, x += down, g += pitch) {
    const T *seen[DG_PLACES_OF_PAIRS] = {0};
    DG_UNROLL for (int k = 0; k < COUNT; k++) seen[k] = x + at[k];
    for (int64_t s = 0; s < whole; s += LANES) {
      V inputs[DG_PLACES_OF_PAIRS] = {{0}};
      DG_UNROLL for (int k = 0; k < COUNT; k++) inputs[k] = F(dg_load)(seen[k] + s);
      DG_UNROLL for (int o = 0; o < OUT; o++) {
        const V one = F(dg_load)(g + o * channel + s);
        DG_UNROLL for (int k = 0; k < COUNT; k++) sum[o][k] = FUSED(one, inputs[k], sum[o][k]);
      }
    }
    if (whole == size) continue;
    V inputs[DG_PLACES_OF_PAIRS] = {{0}};
    DG_UNROLL for (int k = 0; k < COUNT; k++) inputs[k] = F(dg_masked)(F(dg_load)(seen[k] + from), mask);
    DG_UNROLL for (int o = 0; o < OUT; o++) {
      const V one = F(dg_masked)(F(dg_load)(g + o * channel + from), mask);
      DG_UNROLL for (int k = 0; k < COUNT; k++) sum[o][k] = FUSED(one, inputs[k], sum[o][k]);
    }
  }
  DG_UNROLL for (int o = 0; o < OUT; o++)
    DG_UNROLL for (int k = 0; k < COUNT; k++) F(dg_store)(total[o * COUNT + k], sum[o][k]);
  F(dg_totals)(OUT * COUNT, total);
}

/* This thread's weights of the gradient by weights, which are row-major, in blocks of OUT channels times COUNT places;
   `held` and `spaced` are its own memory. */
DG_INLINE void F(dg_convolve_weights)(const int OUT, const int COUNT, int64_t me, int64_t count, dg_windows how, const T *x,
                                  const T *g, T *y, T *held, T *spaced) {
  const int64_t across = how.column.places, down = how.row.places, all = how.in * across;
  const int64_t blocks = (how.out + OUT - 1) / OUT, each = (all + COUNT - 1) / COUNT * blocks * down;
  const int64_t n = how.images, pitch = how.column.results * n, inputs = how.row.inputs * how.column.inputs * n;
  const int64_t rows = dg_min(how.row.results, (DG_RUN - 1) / dg_max(pitch, 1) + 1);
  const int narrow = pitch < LANES; /* then rows of g are copied to where each has room for a vector */
  const int64_t size = narrow ? LANES : pitch, channel = (narrow ? rows : how.row.results) * size;
  const dg_rows p = dg_rows_of(how, (rows - 1) * how.row.up + (down - 1) * how.row.hole + 1, narrow || !dg_inside(how.column));
  const int64_t low = dg_share(how.groups * each, 1, me, count), high = dg_share(how.groups * each, 1, me + 1, count);
  for (int64_t group = low / each; group * each < high; group++) {
    const int64_t begin = dg_max(low - group * each, 0), end = dg_min(high - group * each, each);
    const int64_t first = dg_min(begin / (blocks * down) * COUNT, all - COUNT) / across;
    const int64_t last = (dg_min((end - 1) / (blocks * down) * COUNT, all - COUNT) + COUNT - 1) / across + 1;
    for (int64_t top = 0; top < how.row.results; top += rows) {
      const int64_t bottom = dg_min(top + rows, how.row.results), base = p.packed ? dg_first(how.row, top) : 0;
      const T *seen = x + group * how.in * inputs, *given = g + (group * how.out * how.row.results + top) * pitch;
      if (p.packed) {
        F(dg_pack_rows)(held, seen, how, p, first, last, base, base, dg_last(how.row, bottom - 1) + 1);
        seen = held;
      }
      for (int64_t o = 0; narrow && o < how.out; o++)
        for (int64_t r = 0; r < bottom - top; r++)
          memcpy(spaced + o * channel + r * size, given + (o * how.row.results + r) * pitch, (size_t)pitch * sizeof(T));
      if (narrow) given = spaced;
      for (int64_t unit = begin; unit < end; unit++) {
        const int64_t i = unit % down, b = unit / down % blocks, piece = unit / down / blocks;
        const int64_t o = dg_min(b * OUT, how.out - OUT), k = dg_min(piece * COUNT, all - COUNT);
        int64_t at[DG_PLACES_OF_PAIRS], to[DG_PLACES_OF_PAIRS], column, rest, u = top, stop = bottom;
        for (int64_t t = 0; t < COUNT; t++) {
          const int64_t c = (k + t) / across, j = (k + t) % across;
          dg_column(how.column, 0, j, &column, &rest);
          at[t] = c * p.channel + (column - p.lowest + rest * p.width) * n;
          to[t] = (c * down + i) * across + j;
        }
        while (u < stop && dg_input(how.row, u, i) < 0) u++;
        while (u < stop && dg_input(how.row, stop - 1, i) < 0) stop--;
        const int64_t row = u * how.row.up + i * how.row.hole + how.row.shift - base;
        T total[DG_OUT_OF_PAIRS * DG_PLACES_OF_PAIRS][LANES];
        F(dg_products)(OUT, COUNT, stop - u, pitch, seen + row * p.pitch, how.row.up * p.pitch, at,
                       given + o * channel + (u - top) * size, size, channel, total);
        for (int64_t a = b * OUT - o; a < OUT; a++)
          for (int64_t t = piece * COUNT - k; t < COUNT; t++) {
            T *const there = y + (group * how.out + o + a) * all * down + to[t];
            *there = total[a * COUNT + t][0] + (top ? *there : 0);
          }
      }
    }
  }
}

#undef F
#undef V
#undef LANES
#undef FUSED
