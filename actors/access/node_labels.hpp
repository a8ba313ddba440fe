// What a node may say about itself, by its link and over HTTP. Pure.
//
// kubernetes: plugin/pkg/admission/noderestriction, and kubelet's well-known labels.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "api/schema/meta_object.pb.h"

namespace troupe::actors {

// True for labels that a node may set on itself.
bool may_label(std::string_view label);

// The labels that differ and that a node may not change, in their order.
std::vector<std::string> forbidden_labels(const api::meta::v1::ObjectMeta& before,
                                          const api::meta::v1::ObjectMeta& now);

}  // namespace troupe::actors
