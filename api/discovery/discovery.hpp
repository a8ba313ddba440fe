// What the server says of itself, so that clients find resources by name: the documents of /api
// and /apis, plain (one for each group version) and aggregated (all at once). JSON texts, made once
// from the scheme. Safe from any thread.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "api/kind.hpp"

namespace troupe::api {

// A resource below a resource: pods/log, replicationcontrollers/scale.
struct subresource {
  std::string_view name;
  // What is sent and answered there.
  std::string_view group, version, kind;
  std::vector<std::string_view> verbs;
};
std::vector<subresource> subresources_of(const kind_info& kind);

// /api: APIVersions.
const std::string& core_versions_document();
// /apis: APIGroupList.
const std::string& groups_document();
// /apis/GROUP: APIGroup; empty when there is no such group.
const std::string& group_document(std::string_view group);
// /api/v1, /apis/GROUP/VERSION: APIResourceList; empty when there is no such version.
const std::string& resources_document(std::string_view group, std::string_view version);
// /api (`core`) or /apis: APIGroupDiscoveryList of apidiscovery.k8s.io/`version` ("v2", "v2beta1").
const std::string& aggregated_document(bool core, std::string_view version);

}  // namespace troupe::api
