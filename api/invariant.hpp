// A broken invariant of our own ends the program, in release builds too.
// Never for input from outside, which is answered with an error.
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
