// For what other threads or programs bring about.
#pragma once

#include <chrono>
#include <functional>

namespace troupe::test {

// Asks until it holds; false when it does not within `limit`. The question itself takes its time: a
// request, a command.
inline bool eventually(const std::function<bool()>& holds,
                       std::chrono::milliseconds limit = std::chrono::seconds{40}) {
  const auto until = std::chrono::steady_clock::now() + limit;
  while (!holds())
    if (std::chrono::steady_clock::now() > until) return false;
  return true;
}

}  // namespace troupe::test
