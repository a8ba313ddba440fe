// Time that the calling thread has computed: what else the machine does makes no difference.
#pragma once

#include <ctime>

namespace troupe::test {

inline double cpu_seconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

}  // namespace troupe::test
