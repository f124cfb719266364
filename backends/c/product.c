/* Products of matrices of floats, on the calling thread: our own, and those of a BLAS where it is quicker. Compiled once
   for each dtype: of double, or with DG_OF_float32 of float. */
#define DG_AVX512_ELSEWHERE
#include "team.h"
#include "vector.h"

#ifdef DG_OF_float32
#define T float
#define NAME float32
#else
#define T double
#define NAME float64
#endif
#define F(name) DG_OF(name, NAME)
#define V F(dg_v)
#define LANES F(DG_LANES)

enum {
  ROW_MAJOR = 101, AS_IS = 111, TRANSPOSED = 112, /* as CBLAS numbers them */
  ROWS = DG_REGISTERS == 32 ? 8 : 4, VECTORS = 3, /* of a block, whose sums are in registers */
  DEEP = 256, HIGH = 128,                         /* of what passes by one panel, so that both stay in caches */
  LINE = 64,                                      /* bytes that memory gives at once */
  MANY = 256,                                     /* sizes above which BLAS is quicker */
  THIN = 8, ACROSS = 1024, STREAMS = 16           /* thin.inc: rows; columns at once, of so many rows of the other */
};

/* The BLAS that products may use, whose integers have 64 bits and which stays on the calling thread; or none. */
typedef void gemm_function(int order, int transa, int transb, int64_t m, int64_t n, int64_t k, T alpha, const T *a,
                           int64_t lda, const T *b, int64_t ldb, T beta, T *c, int64_t ldc);
static gemm_function *gemm;
void dg_use_blas(gemm_function *given) { gemm = given; }

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

/* c = a b by BLAS, if there is one that can see them so: 0 where not. */
static int by_blas(int64_t m, int64_t n, int64_t k, const T *a, int64_t a0, int64_t a1, const T *b, int64_t b0, int64_t b1,
                   T *c, int64_t c0)
{
    int64_t lda = 0, ldb = 0;
    const int left = blas_sees(m, k, a0, a1, &lda), right = blas_sees(k, n, b0, b1, &ldb);
    if (!gemm || !k || !left || !right)
        return 0;
    gemm(ROW_MAJOR, left, right, m, n, k, 1, a, lda, b, ldb, 0, c, dg_max(c0, dg_max(n, 1)));
    return 1;
}

#include "product.inc"
#include "thin.inc"

/* c = a b, of m x k and k x n with any strides; c must not overlap them. */
void dg_multiply(int64_t m, int64_t n, int64_t k, const T *a, int64_t a0, int64_t a1, const T *b, int64_t b0, int64_t b1,
                 T *c, int64_t c0, int64_t c1)
{
    const int suits = n < LANES || dg_min(dg_min(m, n), k) > MANY;
    if (m <= 0 || n <= 0)
        return;
    if (c1 != 1 && c0 == 1) /* turned over, it is b turned over times a turned over */
        dg_multiply(n, m, k, b, b1, b0, a, a1, a0, c, c1, c0);
    else if (m <= THIN && (b0 == 1 || b1 == 1))
        thin(m, n, k, a, a0, a1, b, b0, b1, c, c0, c1);
    else if (n <= THIN && (a0 == 1 || a1 == 1))
        thin(n, m, k, b, b1, b0, a, a1, a0, c, c1, c0);
    else if (!(suits && c1 == 1 && by_blas(m, n, k, a, a0, a1, b, b0, b1, c, c0)))
        product(m, n, k, a, a0, a1, b, b0, b1, c, c0, c1);
}
