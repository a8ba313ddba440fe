// Named constants of the program.
#pragma once

#include <chrono>
#include <cstddef>

namespace troupe::tools::defaults {

// A node ends within two seconds of SIGTERM: what is on disk is whole at any moment, so nothing is
// worth waiting longer for.
inline constexpr std::chrono::milliseconds stop_limit{2'000};

// Log lines that wait for a slow reader of stderr; the oldest make room for newer ones, so that
// nobody who logs ever waits.
inline constexpr std::size_t log_queue_lines = 8'192;

// Width of help texts.
inline constexpr std::size_t help_columns = 96;

}  // namespace troupe::tools::defaults
