// Fields of a pod that the process runtime does not support: reported once, by an event. Pure.
#pragma once

#include <string>
#include <vector>

#include "api/schema/core_pod.pb.h"

namespace troupe::actors {

// Paths of fields, with the effect of each where it is not obvious. `limits_kept`: this machine's
// control groups enforce limits of memory and processors. `own_resolver`: containers have a
// resolv.conf of their own.
std::vector<std::string> unsupported_features(const api::core::v1::Pod& pod, bool limits_kept,
                                              bool own_resolver = false);

}  // namespace troupe::actors
