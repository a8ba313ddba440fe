// Whether figures that a test measures are meaningful for the program.
#pragma once

#include <catch2/catch.hpp>

namespace troupe::test {

// Sanitizers add memory and time: figures are then only printed.
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
