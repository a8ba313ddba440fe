// The order of a group's versions in discovery: stable ones first, newer before older ("v2", "v1",
// "v1beta1"). Names of another form come last, alphabetically.
#pragma once

#include <string_view>

namespace troupe::api {

struct version_before {
  using is_transparent = void;
  bool operator()(std::string_view a, std::string_view b) const noexcept;
};

}  // namespace troupe::api
