// Aborts the program if one of its invariants is broken, in release builds too. Not for input from
// outside: that gets an error.
#pragma once

#include <cstdio>
#include <cstdlib>

namespace troupe::api {

inline void ensure(bool holds, const char* invariant) {
  if (holds) return;
  std::fprintf(stderr, "troupe: broken invariant: %s\n", invariant);
  std::abort();
}

}  // namespace troupe::api
