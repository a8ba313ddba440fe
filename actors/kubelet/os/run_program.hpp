// Runs a program until it exits. Blocks: for a worker thread.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstddef>
#include <string>
#include <tl/expected.hpp>
#include <vector>

namespace troupe::actors {

// `command`: the program's path and its arguments. It reads `input` and nothing else. The error
// begins with `name` and is the first line that the program wrote, or that it took longer than
// `limit` and was killed. If it does not end then, because the kernel is waiting for something,
// runs of that `name` fail until it has. `started`, where it is given, is the process.
tl::expected<void, std::string> run_program(const std::string& name,
                                            const std::vector<std::string>& command,
                                            const std::string& input,
                                            std::chrono::milliseconds limit,
                                            pid_t* started = nullptr);

// The same; returns what the program wrote, cut after `most_bytes`.
tl::expected<std::string, std::string> output_of_program(const std::string& name,
                                                         const std::vector<std::string>& command,
                                                         const std::string& input,
                                                         std::chrono::milliseconds limit,
                                                         std::size_t most_bytes);

}  // namespace troupe::actors
