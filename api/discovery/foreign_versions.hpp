// Versions of groups that other servers serve (APIServices that name a service), as discovery tells
// of them: what each server says of its resources, read within bounds and written again by us.
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
  // Of the APIService: the greater stand first.
  std::int32_t group_priority = 0, version_priority = 0;
  // Its server did not answer the last time: `resources` are as it said before.
  bool stale = false;
  std::vector<foreign_resource> resources = {};
  bool operator==(const foreign_version&) const = default;
};

using foreign_versions = std::vector<foreign_version>;

// An APIResourceList of that group and version. The error says in one line what is wrong with it.
// kubernetes: apiserver/pkg/endpoints, ConvertGroupVersionIntoToDiscovery.
expected<std::vector<foreign_resource>> read_resource_list(std::string_view text,
                                                           const std::string& group,
                                                           const std::string& version);

}  // namespace troupe::api
