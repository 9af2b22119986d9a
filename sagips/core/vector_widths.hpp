#pragma once

/// Put before a function: its loops are compiled for several vector widths, and the program takes the
/// widest that its processor has. The thread sanitizer cannot run what chooses.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && !defined(__SANITIZE_THREAD__)
#define SAGIPS_VECTOR_WIDTHS __attribute__((target_clones("avx512f", "avx2", "default")))
#else
#define SAGIPS_VECTOR_WIDTHS
#endif
