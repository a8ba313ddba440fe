// The table of all keys: the only description of a node's configuration.
#pragma once

#include <span>

#include "config/setting.hpp"

namespace troupe::config {

// In the order of the struct; the rows of a group stand together.
std::span<const setting> table();

}  // namespace troupe::config
