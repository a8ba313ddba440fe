// Whether what a test measures is the program's own.
#pragma once

#include <catch2/catch.hpp>

namespace troupe::test {

// Sanitizers take memory and time of their own: a figure is then only printed.
#ifdef TROUPE_SANITIZED
inline constexpr bool true_figures = false;
#else
inline constexpr bool true_figures = true;
#endif

template <class T>
void check_below(T figure, T limit) {
  if (true_figures)
    CHECK(figure < limit);
  else
    WARN(figure << ", where " << limit << " is the limit without sanitizers");
}

}  // namespace troupe::test
