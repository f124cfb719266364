/* What CUDA's own compiler lacks of C's library, and what generated kernels share: packs, and folds over threads. */
#ifndef DG_CUDA_H
#define DG_CUDA_H

#define DG_FN static __device__ inline
#define DG_SCALAR static __device__ __forceinline__
#define DG_TABLE static __device__ const
#define restrict __restrict__

#ifdef __CUDACC_RTC__
typedef signed char int8_t;
typedef short int16_t;
typedef int int32_t;
typedef long long int64_t;
typedef unsigned char uint8_t;
typedef unsigned short uint16_t;
typedef unsigned int uint32_t;
typedef unsigned long long uint64_t;
#define INT64_C(x) x##ll
#define UINT64_C(x) x##ull
#define INT32_MIN (-2147483647 - 1)
#define INT64_MIN (-INT64_C(9223372036854775807) - 1)
#endif
#ifndef NAN
#define NAN __int_as_float(0x7fc00000)
#endif
#ifndef INFINITY
#define INFINITY __int_as_float(0x7f800000)
#endif

/* What counts elements: wide enough for all that a step has. */
#ifdef DG_WIDE
typedef int64_t dg_index;
#else
typedef int32_t dg_index;
#endif

DG_SCALAR dg_index dg_least(dg_index a, dg_index b) { return a < b ? a : b; }
DG_SCALAR dg_index dg_most(dg_index a, dg_index b) { return a > b ? a : b; }
DG_SCALAR int64_t dg_max(int64_t a, int64_t b) { return a > b ? a : b; }
DG_SCALAR int64_t dg_min(int64_t a, int64_t b) { return a < b ? a : b; }

/* Where the stretch of a block begins, of an extent that the blocks along y share, in whole steps. */
DG_SCALAR dg_index dg_stretch(dg_index extent, int step, unsigned block) {
  const int64_t steps = ((int64_t)extent + step - 1) / step;
  return dg_least((dg_index)(steps * block / gridDim.y) * step, extent);
}

/* Neighbours in memory that are loaded and stored at once. */
template <class T, int N> struct alignas(sizeof(T) * N) dg_pack { T at[N]; };

template <int N, class T> DG_SCALAR dg_pack<T, N> dg_load(const T *from) {
  return *reinterpret_cast<const dg_pack<T, N> *>(from);
}

template <int N, class T> DG_SCALAR void dg_save(T *to, const dg_pack<T, N> &pack) {
  *reinterpret_cast<dg_pack<T, N> *>(to) = pack;
}

/* What another lane of the warp holds; of up to 8 bytes. */
template <class T> DG_SCALAR T dg_exchanged(T value, int apart) {
  uint64_t bits = 0;
  memcpy(&bits, &value, sizeof value);
  const uint32_t low = __shfl_xor_sync(~0u, (uint32_t)bits, apart);
  const uint32_t high = sizeof(T) > 4 ? __shfl_xor_sync(~0u, (uint32_t)(bits >> 32), apart) : 0;
  bits = (uint64_t)high << 32 | low;
  memcpy(&value, &bits, sizeof value);
  return value;
}

template <class T> DG_SCALAR void dg_put(uint64_t *into, T value) { memcpy(into, &value, sizeof value); }

template <class T> DG_SCALAR T dg_got(const uint64_t *from) {
  T value;
  memcpy(&value, from, sizeof value);
  return value;
}

/* Fold what the threads along x hold, a power of two of them, in one order; all of them get it. The block is whole warps. */
template <class T, class F> DG_SCALAR T dg_across_x(T value, F take, uint64_t *shared) {
  const int width = blockDim.x < 32 ? blockDim.x : 32;
  for (int apart = width / 2; apart > 0; apart /= 2) take(value, dg_exchanged(value, apart));
  if (blockDim.x <= 32) return value;
  const int warps = blockDim.x / 32, first = threadIdx.y * warps;
  __syncthreads();
  if (threadIdx.x % 32 == 0) dg_put(shared + first + threadIdx.x / 32, value);
  __syncthreads();
  value = dg_got<T>(shared + first);
  for (int k = 1; k < warps; k++) take(value, dg_got<T>(shared + first + k));
  return value;
}

/* The same along y. */
template <class T, class F> DG_SCALAR T dg_across_y(T value, F take, uint64_t *shared) {
  if (blockDim.y == 1) return value;
  __syncthreads();
  dg_put(shared + threadIdx.y * blockDim.x + threadIdx.x, value);
  __syncthreads();
  value = dg_got<T>(shared + threadIdx.x);
  for (int k = 1; k < blockDim.y; k++) take(value, dg_got<T>(shared + k * blockDim.x + threadIdx.x));
  return value;
}

#endif
