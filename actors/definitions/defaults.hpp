// The constants of this folder and their sources.
#pragma once

#include <cstddef>

namespace troupe::actors::defaults {

// Our own: maximum number of pending writes of APIServices; upstream has 5 workers.
inline constexpr std::size_t registrations_at_once = 16;

}  // namespace troupe::actors::defaults
