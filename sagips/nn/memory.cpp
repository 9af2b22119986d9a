#include "sagips/nn/memory.hpp"

#ifdef __GLIBC__
#include <malloc.h>
#endif

#include <climits>

namespace sagips::nn {

void keep_freed_memory() {
#ifdef __GLIBC__
  mallopt(M_MMAP_THRESHOLD, INT_MAX);
  mallopt(M_TRIM_THRESHOLD, INT_MAX);
  mallopt(M_TOP_PAD, 64 << 20);
#endif
}

}  // namespace sagips::nn
