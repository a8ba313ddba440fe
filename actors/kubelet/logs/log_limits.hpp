// The space of one container's log.
#pragma once

#include <cstdint>

#include "actors/kubelet/defaults.hpp"

namespace troupe::actors {

struct log_limits {
  std::uintmax_t file_bytes = kubelet_defaults::log_file_bytes;  // a larger file is rotated
  int files = kubelet_defaults::log_files;                       // with the current one
};

}  // namespace troupe::actors
