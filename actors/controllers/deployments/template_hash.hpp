// The name that a Deployment gives to a version of its pod template: label pod-template-hash, and
// the end of the ReplicaSet's name. Pure.
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

// Equal but for the hash label, which the controller itself puts there.
bool same_template(const api::core::v1::PodTemplateSpec& a,
                   const api::core::v1::PodTemplateSpec& b);

}  // namespace troupe::actors::deployments
