// The labels that a node may set on its own Node, over its link and over HTTP. Pure functions.
//
// kubernetes: plugin/pkg/admission/noderestriction, and kubelet's well-known labels.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "api/schema/meta_object.pb.h"

namespace troupe::actors {

// True if a node may set this label on itself.
bool may_label(std::string_view label);

// The changed labels that a node may not change, sorted.
std::vector<std::string> forbidden_labels(const api::meta::v1::ObjectMeta& before,
                                          const api::meta::v1::ObjectMeta& now);

}  // namespace troupe::actors
