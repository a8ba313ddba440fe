// Runs a program until it exits. Blocks: for a worker thread.
#pragma once

#include <chrono>
#include <string>
#include <tl/expected.hpp>
#include <vector>

namespace troupe::actors {

// `command`: the program's path and arguments; `input` is its standard input. The error begins
// with `name`, followed by the program's first line of output, or says that it was killed after
// `limit`.
tl::expected<void, std::string> run_program(const std::string& name,
                                            const std::vector<std::string>& command,
                                            const std::string& input,
                                            std::chrono::milliseconds limit);

}  // namespace troupe::actors
