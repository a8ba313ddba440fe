// Leaves this process without a free file descriptor.
#pragma once

#include <sys/resource.h>
#include <unistd.h>

#include <vector>

#include "support/sanitizer.hpp"

namespace troupe::test {

// False, and the test is skipped, under UBSan: it checks the type of an object through a pipe, and
// without one it takes the object for destroyed.
inline bool can_take_all_descriptors() {
  if (sanitized) skip("no free descriptor: the sanitizer needs some itself");
  return !sanitized;
}

// While this exists. Descriptors that are open stay open.
class no_descriptors {
 public:
  no_descriptors() {
    ::getrlimit(RLIMIT_NOFILE, &before_);
    const int next = ::dup(0);
    ::close(next);
    const rlimit few{static_cast<rlim_t>(next), before_.rlim_max};
    ::setrlimit(RLIMIT_NOFILE, &few);
    // Lower numbers may be free.
    for (int more; (more = ::dup(0)) >= 0;)
      taken_.push_back(more);
  }
  no_descriptors(const no_descriptors&) = delete;
  no_descriptors& operator=(const no_descriptors&) = delete;
  ~no_descriptors() {
    for (const int each : taken_)
      ::close(each);
    ::setrlimit(RLIMIT_NOFILE, &before_);
  }

 private:
  rlimit before_{};
  std::vector<int> taken_;
};

}  // namespace troupe::test
