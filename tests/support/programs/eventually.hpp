// Polls for effects of other threads or programs.
#pragma once

#include <chrono>
#include <functional>

namespace troupe::test {

// Polls until it is true; false after `limit`. There is no pause between calls: each is a request
// or a command, which takes time itself.
inline bool eventually(const std::function<bool()>& holds,
                       std::chrono::milliseconds limit = std::chrono::seconds{60}) {
  const auto until = std::chrono::steady_clock::now() + limit;
  while (!holds())
    if (std::chrono::steady_clock::now() > until) return false;
  return true;
}

}  // namespace troupe::test
