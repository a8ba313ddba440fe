// What the machine lets this process have, before anything is built on it: memory, threads,
// descriptors and room for the stacks. A node that cannot have what it starts with reports it in
// one line and ends before it has opened anything.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <tl/expected.hpp>

namespace troupe::tools {

struct process_needs {
  std::size_t threads = 0;      // at the same time, beside those that are there
  std::size_t descriptors = 0;  // altogether
  std::uint64_t memory_bytes = 0;
};

// Raises the soft limit of descriptors to the hard one. Threads are tried, not computed: many
// limits bound them (RLIMIT_NPROC, pids.max of each control group above, RLIMIT_AS, the kernel's
// own). The error says what is needed, what there is, and the limits that are set.
tl::expected<void, std::string> check_process_limits(const process_needs& needs);

// Of a node with so many threads for its actors (0: one for each core, at least two).
process_needs needs_of_node(std::size_t worker_threads);

}  // namespace troupe::tools
