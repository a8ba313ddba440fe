// Skips tests that are meaningless in a build with a sanitizer.
#pragma once

#include "support/skip.hpp"

namespace troupe::test {

#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
inline constexpr bool sanitized = true;
#else
inline constexpr bool sanitized = false;
#endif

// False, and the test is skipped, if most of a process's memory is the sanitizer's.
inline bool memory_is_the_programs() {
  if (sanitized) skip("no bar of memory: a sanitizer has its part of it");
  return !sanitized;
}

}  // namespace troupe::test
