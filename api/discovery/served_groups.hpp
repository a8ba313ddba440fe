// The groups and versions served by this server and by others, in the order of discovery.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "api/discovery/foreign_versions.hpp"
#include "api/scheme.hpp"

namespace troupe::api {

// A version, with its kinds that are resources, or with the resources of a foreign server.
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

// Higher ones come first in discovery (APIService: groupPriorityMinimum, versionPriority).
struct version_priority {
  std::int32_t group = 0, version = 0;
};
// The priority of a version that this server serves, built-in or custom.
version_priority priority_of(std::string_view group, std::string_view version);

// Has views into both arguments. A foreign version replaces our own version of the same name.
served_groups groups_of(const kind_table& kinds, const foreign_versions& foreign);

}  // namespace troupe::api
