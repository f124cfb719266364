/* What CUDA text needs to be compiled as C++ for this machine: a thread of a block is a fiber of runtime.cpp.

   Not a model of speed or of memory order: blocks run one after another, the threads of a block in an order that is
   chosen, and they change places at barriers and warp collectives alone. */
#pragma once
#include <limits.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

#define __device__
#define __global__
#define __shared__ static /* blocks run one at a time */
#define __forceinline__ inline __attribute__((always_inline))
#define __launch_bounds__(...)

struct host_index { unsigned x, y, z; };
extern "C" {
extern host_index threadIdx, blockIdx, blockDim, gridDim;
void host_barrier(const char *what);
uint32_t host_exchange(unsigned mask, uint32_t value, int lane, const char *what);
int host_lane(void);
}

static inline void __syncthreads() { host_barrier("__syncthreads"); }
static inline void __syncwarp(unsigned mask = ~0u) { host_exchange(mask, 0, host_lane(), "__syncwarp"); }
static inline void __threadfence() {}

/* Of 32 bits: generated text exchanges nothing else. */
static inline uint32_t __shfl_xor_sync(unsigned mask, uint32_t value, int apart) {
  return host_exchange(mask, value, host_lane() ^ apart, "__shfl_xor_sync");
}
static inline uint32_t __shfl_sync(unsigned mask, uint32_t value, int lane) {
  return host_exchange(mask, value, lane & 31, "__shfl_sync");
}
static inline unsigned __ballot_sync(unsigned mask, int holds) {
  unsigned all = 0;
  for (int lane = 0; lane < 32; lane++) all |= (unsigned)(host_exchange(mask, holds != 0, lane, "__ballot_sync") != 0) << lane;
  return all;
}
static inline int __ffs(int bits) { return __builtin_ffs(bits); }

/* Threads take turns: nothing comes between a load and a store. */
template <class T> static inline T atomicAdd(T *at, T value) { T old = *at; *at = old + value; return old; }
template <class T> static inline T atomicMin(T *at, T value) { T old = *at; *at = value < old ? value : old; return old; }
template <class T> static inline T atomicMax(T *at, T value) { T old = *at; *at = value > old ? value : old; return old; }
template <class T> static inline T atomicExch(T *at, T value) { T old = *at; *at = value; return old; }
template <class T> static inline T atomicCAS(T *at, T wanted, T value) {
  T old = *at;
  if (old == wanted) *at = value;
  return old;
}
template <class T> static inline T __ldg(const T *at) { return *at; }
static inline float __int_as_float(int bits) { float x; memcpy(&x, &bits, sizeof x); return x; }
