#pragma once

#include <string_view>

namespace troupe::actors::access {

extern const std::string_view default_policy_text;

}  // namespace troupe::actors::access
