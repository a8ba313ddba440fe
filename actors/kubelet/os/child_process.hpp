// Starting programs from a process with many threads.
#pragma once

#include <sys/types.h>

#include <string>
#include <tl/expected.hpp>
#include <utility>
#include <vector>

namespace troupe::actors {

// Starts arguments[0] with no signal blocked. `files`: which of our descriptors the child has as
// which of its own; all others must be close-on-exec. The caller waits for the child.
tl::expected<pid_t, std::string> spawn_program(const std::vector<std::string>& arguments,
                                               const std::vector<std::pair<int, int>>& files);

// For exec: pointers into `strings`, and a null at the end.
std::vector<char*> pointers(const std::vector<std::string>& strings);

}  // namespace troupe::actors
