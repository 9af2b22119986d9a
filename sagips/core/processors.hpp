#pragma once
#include <sched.h>

namespace sagips::core {

/// The processors this process may run on, by its affinity mask; one where that cannot be read.
inline cpu_set_t allowed_processors() {
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  if (sched_getaffinity(0, sizeof(allowed), &allowed) != 0) {
    CPU_ZERO(&allowed);
    CPU_SET(0, &allowed);
  }
  return allowed;
}

}  // namespace sagips::core
