// The table of all keys: the single description of a node's configuration.
#pragma once

#include <span>

#include "config/setting.hpp"

namespace troupe::config {

// In the order of the struct; the rows of a group are adjacent.
std::span<const setting> table();

}  // namespace troupe::config
