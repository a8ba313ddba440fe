// The constants of Pod Security with their sources.
#pragma once

#include <cstddef>

namespace troupe::actors::pod_security::defaults {

// The minor version that `latest` stands for: that of the served API.
inline constexpr int served_version = 33;
// The maximum of pods that are checked when a namespace gets another level to enforce (upstream:
// pod-security-admission/admission, defaultNamespaceMaxPodsToCheck).
inline constexpr std::size_t pods_checked = 3'000;

}  // namespace troupe::actors::pod_security::defaults
