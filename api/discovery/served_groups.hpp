// The groups and versions that are served, by this server and by others, in the order of discovery.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "api/discovery/foreign_versions.hpp"
#include "api/scheme.hpp"

namespace troupe::api {

// A version with the kinds that are resources of their own, or with what its server says.
struct served_version {
  std::string version;
  std::int32_t priority = 0;
  std::vector<const kind_info*> kinds = {};
  const foreign_version* foreign = nullptr;
};
struct served_group {
  std::string name;
  std::int32_t priority = 0;
  std::vector<served_version> versions = {};
};
using served_groups = std::vector<served_group>;

// The greater stand first in discovery (APIService: groupPriorityMinimum, versionPriority).
struct version_priority {
  std::int32_t group = 0, version = 0;
};
// Of a version that this server serves, built in or custom.
version_priority priority_of(std::string_view group, std::string_view version);

// Views into both. A foreign version takes the place of our own of the same name.
served_groups groups_of(const kind_table& kinds, const foreign_versions& foreign);

}  // namespace troupe::api
