#include "sagips/nn/memory.hpp"

#include <climits>  // tells the C library, too

#ifdef __GLIBC__
#include <malloc.h>
#endif

namespace sagips::nn {

void keep_freed_memory() {
#ifdef __GLIBC__
  mallopt(M_MMAP_THRESHOLD, INT_MAX);
  mallopt(M_TRIM_THRESHOLD, INT_MAX);
  mallopt(M_TOP_PAD, 64 << 20);
#endif
}

}  // namespace sagips::nn
