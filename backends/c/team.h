/* What an emitted step and the runtime that calls it agree on. */
#ifndef DG_TEAM_H
#define DG_TEAM_H

#include <stdint.h>

/* A BLAS whose integers have 64 bits and which multiplies on the calling thread; CBLAS's arguments. */
typedef struct dg_blas {
    void (*sgemm)(int order, int transa, int transb, int64_t m, int64_t n, int64_t k, float alpha,
                  const float *a, int64_t lda, const float *b, int64_t ldb, float beta, float *c,
                  int64_t ldc);
    void (*dgemm)(int order, int transa, int transb, int64_t m, int64_t n, int64_t k, double alpha,
                  const double *a, int64_t lda, const double *b, int64_t ldb, double beta,
                  double *c, int64_t ldc);
} dg_blas;

enum { DG_ROW_MAJOR = 101, DG_AS_IS = 111, DG_TRANSPOSED = 112 };

/* What one call of a step works on. */
typedef struct dg_call {
    char **at;            /* memory by number: feeds, outputs, parameters, constants, then slots */
    const int64_t *size;  /* named sizes */
    const dg_blas *blas;
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
