// The constants of Pod Security and where they come from.
#pragma once

#include <cstddef>

namespace troupe::actors::pod_security::defaults {

// The minor number of the policies that `latest` stands for: that of the API that is served.
inline constexpr int served_version = 33;
// Pods of a namespace that are looked at when it is to enforce another level (upstream:
// pod-security-admission/admission, defaultNamespaceMaxPodsToCheck).
inline constexpr std::size_t pods_checked = 3'000;

}  // namespace troupe::actors::pod_security::defaults
