// The hash of a Deployment's pod template: the value of the label pod-template-hash and the suffix
// of the ReplicaSet's name. Pure functions.
#pragma once

#include <cstdint>
#include <string>

namespace troupe::api::core::v1 {
class PodTemplateSpec;
}

namespace troupe::actors::deployments {

inline constexpr const char* hash_label = "pod-template-hash";

// name_hash() of the deterministic encoding of the template.
std::string template_hash(const api::core::v1::PodTemplateSpec& pod_template,
                          std::int32_t collisions);

// Compares without the hash label, which the controller itself sets.
bool same_template(const api::core::v1::PodTemplateSpec& a,
                   const api::core::v1::PodTemplateSpec& b);

}  // namespace troupe::actors::deployments
