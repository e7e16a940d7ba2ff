#pragma once

/// Before a function: it is compiled twice, and where the processor has AVX2 the one with it runs.
/// It computes the same to the last bit.
#if defined(__x86_64__) && defined(__GLIBC__) && defined(__OPTIMIZE__) && \
    !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define SLUICE_WIDE_VECTORS __attribute__((target_clones("avx2", "default")))
#else
#define SLUICE_WIDE_VECTORS
#endif
