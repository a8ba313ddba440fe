// The identity of a StatefulSet's pod: its name, labels, hostname, and claims (kubernetes:
// stateful_set_utils.go). Pure functions.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/object/object.hpp"
#include "api/schema/apps_sets.pb.h"
#include "api/schema/core_pod.pb.h"

namespace troupe::actors::stateful_sets {

using api::apps::v1::StatefulSet;

// The number in SET-NUMBER; nothing if the name has another form.
std::optional<std::int32_t> ordinal_of(std::string_view set, std::string_view pod);
std::string pod_name(std::string_view set, std::int32_t ordinal);
// TEMPLATE-SET-ORDINAL.
std::string claim_name(std::string_view set, std::string_view claim, std::int32_t ordinal);

// Creates the pod of an ordinal from a template, without an owner reference.
std::unique_ptr<api::core::v1::Pod> make_pod(const StatefulSet& set,
                                             const api::core::v1::PodTemplateSpec& from,
                                             std::int32_t ordinal, const std::string& revision);
// True if the pod has the labels of its identity.
bool has_identity(const api::core::v1::Pod& pod, std::int32_t ordinal);
void set_identity(api::core::v1::Pod& pod, std::int32_t ordinal);

std::vector<std::unique_ptr<api::core::v1::PersistentVolumeClaim>> make_claims(
    const StatefulSet& set, std::int32_t ordinal);

// True if the claim is deleted with an earlier pod: the next pod waits for the deletion.
bool is_deleted_with_pod(const api::object& claim);

// The claim with the owner references of the retention policy: to the set if the claim is deleted
// with the set, and to the pod if that is `condemned` and the claim is deleted on scale-down. Null
// if the claim already has them.
std::unique_ptr<api::core::v1::PersistentVolumeClaim> with_retention(const api::object& set,
                                                                     const api::object& pod,
                                                                     bool condemned,
                                                                     const api::object& claim);

}  // namespace troupe::actors::stateful_sets
