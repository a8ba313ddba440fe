// The constants of definitions and where they come from.
#pragma once

#include <cstddef>

namespace troupe::actors::defaults {

// Our own: writes of APIServices of custom groups under way; upstream has 5 workers.
inline constexpr std::size_t registrations_at_once = 16;

}  // namespace troupe::actors::defaults
