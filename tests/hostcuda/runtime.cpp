// Runs the blocks of a grid, their threads as fibers, and says what would go wrong on a device.

#include <csetjmp>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <string>
#include <sys/mman.h>
#include <vector>

struct host_index { unsigned x, y, z; };
extern "C" {
host_index threadIdx, blockIdx, blockDim, gridDim;
}

namespace {

enum State { READY, BARRIER, WARP, DONE };

struct Fiber {
  void *top;    // its stack pointer while it waits
  char *stack;
  State state;
  unsigned mask;     // of the collective in which it waits
  uint32_t value;    // what it brings there
  const char *what;  // where it waits
  host_index index;
};

const size_t STACK = 64 * 1024;
std::vector<Fiber> fibers;
void *scheduler;  // the stack pointer of what runs the fibers
int current;
std::string error;
void (*entry)(void **);
void **arguments;

extern "C" void host_switch(void **save, void *load);
#if defined(__x86_64__)
asm(".text\n.type host_switch,@function\nhost_switch:\n"
    " push %rbp\n push %rbx\n push %r12\n push %r13\n push %r14\n push %r15\n"
    " mov %rsp,(%rdi)\n mov %rsi,%rsp\n"
    " pop %r15\n pop %r14\n pop %r13\n pop %r12\n pop %rbx\n pop %rbp\n ret\n");
#elif defined(__aarch64__)
asm(".text\n.type host_switch,%function\nhost_switch:\n"
    " sub sp, sp, #160\n"
    " stp x19, x20, [sp, #0]\n stp x21, x22, [sp, #16]\n stp x23, x24, [sp, #32]\n stp x25, x26, [sp, #48]\n"
    " stp x27, x28, [sp, #64]\n stp x29, x30, [sp, #80]\n"
    " stp d8, d9, [sp, #96]\n stp d10, d11, [sp, #112]\n stp d12, d13, [sp, #128]\n stp d14, d15, [sp, #144]\n"
    " mov x9, sp\n str x9, [x0]\n mov sp, x1\n"
    " ldp x19, x20, [sp, #0]\n ldp x21, x22, [sp, #16]\n ldp x23, x24, [sp, #32]\n ldp x25, x26, [sp, #48]\n"
    " ldp x27, x28, [sp, #64]\n ldp x29, x30, [sp, #80]\n"
    " ldp d8, d9, [sp, #96]\n ldp d10, d11, [sp, #112]\n ldp d12, d13, [sp, #128]\n ldp d14, d15, [sp, #144]\n"
    " add sp, sp, #160\n ret\n");
#endif

void wait() {
  host_switch(&fibers[current].top, scheduler);
  threadIdx = fibers[current].index;
}

[[noreturn]] void leave() {
  fibers[current].state = DONE;
  host_switch(&fibers[current].top, scheduler);
  __builtin_unreachable();
}

[[noreturn]] void fail(const std::string &message) {
  if (error.empty()) error = message;
  leave();
}

void start() {
  entry(arguments);
  leave();
}

void fresh(Fiber &fiber) {
  fiber.state = READY;
  void **top = reinterpret_cast<void **>(reinterpret_cast<uintptr_t>(fiber.stack + STACK) & ~uintptr_t(15));
#if defined(__x86_64__)
  *--top = nullptr;
  *--top = reinterpret_cast<void *>(start);
  for (int k = 0; k < 6; k++) *--top = nullptr;
#else
  top -= 20;
  memset(top, 0, 160);
  top[11] = reinterpret_cast<void *>(start);
#endif
  fiber.top = top;
}

// Let those lanes go on that have met in one collective; false if they never will.
bool met(size_t warp, bool &moved) {
  const size_t first = warp * 32, end = std::min(first + 32, fibers.size());
  for (size_t k = first; k < end; k++) {
    if (fibers[k].state != WARP) continue;
    bool all = true;
    for (size_t lane = 0; lane < 32 && first + lane < end; lane++) {
      if (!(fibers[k].mask >> lane & 1)) continue;
      const Fiber &other = fibers[first + lane];
      if (other.state == DONE) {
        error = std::string(fibers[k].what) + ": the mask names lane " + std::to_string(lane) + ", which has left";
        return false;
      }
      if (other.state != WARP || other.mask != fibers[k].mask) all = false;
      else if (strcmp(other.what, fibers[k].what)) {
        error = std::string("lanes of one mask meet in ") + fibers[k].what + " and " + other.what;
        return false;
      }
    }
    if (!all) continue;
    for (size_t lane = 0; lane < 32 && first + lane < end; lane++)
      if (fibers[k].mask >> lane & 1) fibers[first + lane].state = READY;
    moved = true;
  }
  return true;
}

bool run_block(const std::vector<int> &order) {
  for (Fiber &fiber : fibers) fresh(fiber);
  for (;;) {
    bool moved = false;
    for (int k : order) {
      if (fibers[k].state != READY) continue;
      current = k;
      threadIdx = fibers[k].index;
      host_switch(&scheduler, fibers[k].top);
      moved = true;
      if (!error.empty()) return false;
    }
    size_t done = 0, waiting = 0;
    for (const Fiber &fiber : fibers) done += fiber.state == DONE, waiting += fiber.state == BARRIER;
    if (done == fibers.size()) return true;
    for (size_t warp = 0; warp * 32 < fibers.size(); warp++)
      if (!met(warp, moved)) return false;
    if (waiting && waiting + done == fibers.size()) {
      if (done) {
        error = "__syncthreads: " + std::to_string(done) + " threads have left, " + std::to_string(waiting) + " wait";
        return false;
      }
      for (Fiber &fiber : fibers) fiber.state = READY;
      moved = true;
    }
    if (!moved) {
      error = "deadlock: " + std::to_string(waiting) + " threads wait at a barrier, others in a warp";
      return false;
    }
  }
}

std::vector<int> ordered(int count, int order) {
  std::vector<int> found(count);
  for (int k = 0; k < count; k++) found[k] = order == 1 ? count - 1 - k : k;
  uint32_t random = 12345u + order;
  for (int k = count - 1; k > 0 && order > 1; k--) {
    random = random * 1664525u + 1013904223u;
    std::swap(found[k], found[(random >> 8) % (k + 1)]);
  }
  return found;
}

sigjmp_buf before;
char signal_stack[65536];

void at_fault(int, siginfo_t *info, void *) {
  char text[160];
  snprintf(text, sizeof text, "memory that is not the kernel's at %p, by thread (%u, %u, %u) of block (%u, %u, %u)",
           info->si_addr, threadIdx.x, threadIdx.y, threadIdx.z, blockIdx.x, blockIdx.y, blockIdx.z);
  error = text;
  siglongjmp(before, 1);
}

void make_fibers(unsigned count) {
  if (fibers.size() != count) {
    for (Fiber &fiber : fibers) munmap(fiber.stack, STACK);
    fibers.assign(count, Fiber());
    for (Fiber &fiber : fibers)
      fiber.stack = static_cast<char *>(
          mmap(nullptr, STACK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0));
  }
  const host_index b = blockDim;
  for (unsigned k = 0; k < count; k++) fibers[k].index = {k % b.x, k / b.x % b.y, k / (b.x * b.y)};
}

}  // namespace

extern "C" {

void host_barrier(const char *what) {
  fibers[current].state = BARRIER;
  fibers[current].what = what;
  wait();
}

int host_lane(void) { return current & 31; }

uint32_t host_exchange(unsigned mask, uint32_t value, int lane, const char *what) {
  if (!(mask >> host_lane() & 1)) fail(std::string(what) + ": the lane is not in its own mask");
  Fiber &mine = fibers[current];
  mine = {mine.top, mine.stack, WARP, mask, value, what, mine.index};
  const size_t from = (current & ~31) + lane;
  wait();
  if (from < fibers.size() && !(mask >> lane & 1)) fail(std::string(what) + ": reads a lane that is not in the mask");
  const uint32_t found = from < fibers.size() ? fibers[from].value : value;
  mine.state = WARP;  // nobody brings something new before all have read
  wait();
  return found;
}

const char *host_launch(void (*kernel)(void **), void **given, const unsigned *extents, int order) {
  gridDim = {extents[0], extents[1], extents[2]};
  blockDim = {extents[3], extents[4], extents[5]};
  const unsigned count = blockDim.x * blockDim.y * blockDim.z;
  error.clear();
  if (!count || count > 1024 || blockDim.z > 64) error = "a block has 1 to 1024 threads";
  if (!gridDim.x || !gridDim.y || !gridDim.z || gridDim.x > 0x7fffffff || gridDim.y > 65535 || gridDim.z > 65535)
    error = "a grid has 1 to 2^31 - 1 blocks along x, and to 65535 along y and z";
  if (!error.empty()) return error.c_str();
  entry = kernel, arguments = given;
  make_fibers(count);
  struct sigaction action = {}, old;
  stack_t stack = {}, old_stack;
  action.sa_sigaction = at_fault;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK;
  stack.ss_sp = signal_stack, stack.ss_size = sizeof signal_stack;
  sigaltstack(&stack, &old_stack);
  sigaction(SIGSEGV, &action, &old);
  if (!sigsetjmp(before, 1)) {
    const std::vector<int> turns = ordered(count, order);
    for (unsigned z = 0; z < gridDim.z && error.empty(); z++)
      for (unsigned y = 0; y < gridDim.y && error.empty(); y++)
        for (unsigned x = 0; x < gridDim.x && error.empty(); x++) {
          blockIdx = {x, y, z};
          if (!run_block(turns))
            error += " (block " + std::to_string(x) + ", " + std::to_string(y) + ", " + std::to_string(z) + ")";
        }
  }
  sigaction(SIGSEGV, &old, nullptr);
  sigaltstack(&old_stack, nullptr);
  return error.empty() ? nullptr : error.c_str();
}
}
