#pragma once

namespace sagips::nn {

/// Keeps freed memory inside the process instead of handing it back to the system.
///
/// A training epoch frees and asks for the same large tensors again; glibc would return and map
/// them anew each time, which cost about a fifth of a small epoch (page faults). Call once, first
/// thing in `main`.
void keep_freed_memory();

}  // namespace sagips::nn
