// Group versions served by other API servers (APIServices with a service), in discovery: the
// resource lists of these servers, parsed within bounds and written again by us.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "api/error.hpp"

namespace troupe::api {

struct foreign_part {
  std::string name = {};  // "status"
  std::string group = {}, version = {}, kind = {};
  std::vector<std::string> verbs = {};
  bool operator==(const foreign_part&) const = default;
};

struct foreign_resource {
  std::string name = {}, singular = {};
  std::string group = {}, version = {}, kind = {};
  bool namespaced = false;
  std::vector<std::string> verbs = {}, short_names = {}, categories = {};
  std::vector<foreign_part> parts = {};
  bool operator==(const foreign_resource&) const = default;
};

struct foreign_version {
  std::string group = {}, version = {};
  // Priorities from the APIService: higher ones come first.
  std::int32_t group_priority = 0, version_priority = 0;
  // The last request to its server failed: `resources` are from an earlier answer.
  bool stale = false;
  std::vector<foreign_resource> resources = {};
  bool operator==(const foreign_version&) const = default;
};

using foreign_versions = std::vector<foreign_version>;

// Parses the APIResourceList of that group and version. The error is one line with the problem.
// kubernetes: apiserver/pkg/endpoints, ConvertGroupVersionIntoToDiscovery.
expected<std::vector<foreign_resource>> read_resource_list(std::string_view text,
                                                           const std::string& group,
                                                           const std::string& version);

}  // namespace troupe::api
