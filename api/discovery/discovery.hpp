// Discovery, by which clients find resources by name: the documents of /api
// and /apis, plain (one for each group version) and aggregated (all at once). JSON texts, made of
// the kinds and kept until they change. Safe from any thread.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "api/object/shared_text.hpp"

namespace troupe::api {

// Empty where there is no such group or version.
using document_text = shared_text;

// /api: APIVersions.
document_text core_versions_document();
// /apis: APIGroupList.
document_text groups_document();
// /: the paths of all these documents and `others`, sorted (kubernetes: RootPaths).
std::string paths_document(std::span<const std::string_view> others);
// /apis/GROUP: APIGroup.
document_text group_document(std::string_view group);
// /api/v1, /apis/GROUP/VERSION: APIResourceList.
document_text resources_document(std::string_view group, std::string_view version);
// /api (`core`) or /apis: APIGroupDiscoveryList of apidiscovery.k8s.io/`version` ("v2", "v2beta1").
document_text aggregated_document(bool core, std::string_view version);

}  // namespace troupe::api
