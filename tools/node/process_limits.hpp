// Checks the limits of this process before anything is built on it: memory, threads, descriptors
// and room for stacks. If a node cannot get the resources that it starts with, it reports that in
// one line and ends before it has opened anything.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <tl/expected.hpp>

namespace troupe::tools {

struct process_needs {
  std::size_t threads = 0;      // concurrent, in addition to the existing ones
  std::size_t descriptors = 0;  // in total
  std::uint64_t memory_bytes = 0;
};

// Raises the soft limit of descriptors to the hard one. Threads are started as a trial, not
// computed: many limits bound them (RLIMIT_NPROC, pids.max of each control group above, RLIMIT_AS,
// the kernel's own). The error states the need, the available number and the configured limits.
tl::expected<void, std::string> check_process_limits(const process_needs& needs);

// For a node with this many threads for its actors (0: one for each core, at least two).
process_needs needs_of_node(std::size_t worker_threads);

}  // namespace troupe::tools
