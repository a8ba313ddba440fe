// Starts programs from a process with many threads.
#pragma once

#include <sys/types.h>

#include <string>
#include <tl/expected.hpp>
#include <utility>
#include <vector>

namespace troupe::actors {

// Starts arguments[0] with no signal blocked. `files` maps our descriptors to the child's numbers;
// all other descriptors must be close-on-exec. The caller must wait for the child.
tl::expected<pid_t, std::string> spawn_program(const std::vector<std::string>& arguments,
                                               const std::vector<std::pair<int, int>>& files);

// The argv of exec: pointers into `strings`, followed by a null pointer.
std::vector<char*> pointers(const std::vector<std::string>& strings);

}  // namespace troupe::actors
