/* Products of matrices of floats, on the calling thread: our own, and those of a BLAS where it is quicker. */
#define DG_AVX512_ELSEWHERE
#include "team.h"
#include "vector.h"

typedef void sgemm_function(int order, int transa, int transb, int64_t m, int64_t n, int64_t k, float alpha,
                            const float *a, int64_t lda, const float *b, int64_t ldb, float beta, float *c, int64_t ldc);
typedef void dgemm_function(int order, int transa, int transb, int64_t m, int64_t n, int64_t k, double alpha,
                            const double *a, int64_t lda, const double *b, int64_t ldb, double beta, double *c,
                            int64_t ldc);

enum {
  ROW_MAJOR = 101, AS_IS = 111, TRANSPOSED = 112, /* as CBLAS numbers them */
  ROWS = DG_REGISTERS == 32 ? 8 : 4, VECTORS = 3, /* of a block, whose sums are in registers */
  DEEP = 256, HIGH = 128,                         /* of what passes by one panel, so that both stay in caches */
  LINE = 64,                                      /* bytes that memory gives at once */
  MANY = 256,                                     /* sizes above which BLAS is quicker */
  THIN = 8, ACROSS = 1024, STREAMS = 16           /* thin.inc: rows; columns at once, of so many rows of the other */
};

static sgemm_function *sgemm;
static dgemm_function *dgemm;

/* The BLAS that products may use, whose integers have 64 bits and which stays on the calling thread; or none. */
void dg_use_blas(sgemm_function *of_floats, dgemm_function *of_doubles)
{
    sgemm = of_floats;
    dgemm = of_doubles;
}

/* How BLAS sees an operand of m rows and n columns: as it is, turned over, or not at all (0). */
static int blas_sees(int64_t m, int64_t n, int64_t row, int64_t column, int64_t *leading)
{
    if ((column == 1 || n == 1) && (row >= n || m == 1)) {
        *leading = dg_max(row, dg_max(n, 1));
        return AS_IS;
    }
    if ((row == 1 || m == 1) && (column >= m || n == 1)) {
        *leading = dg_max(column, dg_max(m, 1));
        return TRANSPOSED;
    }
    return 0;
}

/* Of a result of m x n, whose columns come in vectors of so many lanes. */
static int prefers_blas(int64_t m, int64_t n, int64_t k, int64_t lanes)
{
    return n < lanes || dg_min(dg_min(m, n), k) > MANY;
}

#define T float
#define NAME float32
#define GEMM sgemm
#include "thin.inc"
#include "product.inc"
#undef T
#undef NAME
#undef GEMM
#define T double
#define NAME float64
#define GEMM dgemm
#include "thin.inc"
#include "product.inc"

const dg_products dg_own_products = {dg_multiply_float32, dg_multiply_float64};
