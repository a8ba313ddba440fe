// Which other objects a pod refers to: what its kubelet reads, and what its node may read. Pure.
#pragma once

#include <string>
#include <vector>

#include "api/schema/core_pod.pb.h"

namespace troupe::actors {

// Keys of the config maps and secrets that a pod refers to, each once.
std::vector<std::string> referenced_keys(const api::core::v1::Pod& pod);

}  // namespace troupe::actors
