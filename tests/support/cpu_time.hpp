// CPU time of the calling thread, which other load on the machine does not affect.
#pragma once

#include <ctime>

namespace troupe::test {

inline double cpu_seconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

}  // namespace troupe::test
