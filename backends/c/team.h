/* What an emitted step and the runtime that calls it agree on. */
#ifndef DG_TEAM_H
#define DG_TEAM_H

#include <stdint.h>

/* Products of matrices, as product.c has them; those of a dtype that a step does not multiply may be missing. */
typedef struct dg_products {
    void (*float32)(int64_t m, int64_t n, int64_t k, const float *a, int64_t a0, int64_t a1, const float *b, int64_t b0,
                    int64_t b1, float *c, int64_t c0, int64_t c1);
    void (*float64)(int64_t m, int64_t n, int64_t k, const double *a, int64_t a0, int64_t a1, const double *b,
                    int64_t b0, int64_t b1, double *c, int64_t c0, int64_t c1);
} dg_products;

/* What one call of a step works on. */
typedef struct dg_call {
    char **at;            /* memory by number: feeds, outputs, parameters, constants, then slots */
    const int64_t *size;  /* named sizes */
    const dg_products *multiply;
    int64_t fault[3];     /* the first bad index found: check's number + 1 (0: none), index, extent */
} dg_call;

/* A part of a step: stages, one after the other, each in so many shares. Those of one stage run at
   the same time, on any thread and in any order; what one stage wrote, the next sees. After a stage
   that notes a bad index no other runs. */
typedef struct dg_part {
    int stages;
    void (*run)(dg_call *, int stage, int me, int count); /* share `me` of `count` of a stage */
} dg_part;

/* Note a bad index, unless one was noted before. */
static inline void dg_fault(dg_call *call, int64_t check, int64_t index, int64_t extent)
{
    int64_t none = 0;
    if (__atomic_compare_exchange_n(&call->fault[0], &none, check + 1, 0, __ATOMIC_RELAXED,
                                    __ATOMIC_RELAXED)) {
        call->fault[1] = index;
        call->fault[2] = extent;
    }
}

#endif
