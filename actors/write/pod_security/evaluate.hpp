// Checks a pod against the Pod Security Standards: the controls of a level as of a version of
// Kubernetes. Pure functions of the pod's metadata and spec.
//
// kubernetes: staging/src/k8s.io/pod-security-admission/policy.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "actors/write/pod_security/policy.hpp"
#include "api/schema/core_pod.pb.h"

namespace troupe::actors::pod_security {

// A pod or a pod template. The references are valid during one call.
struct subject {
  const api::meta::v1::ObjectMeta& meta;
  const api::core::v1::PodSpec& spec;
};

// A violated control, in upstream's wording.
struct violation {
  std::string reason;  // "hostPort"
  std::string detail;  // "container "web" uses hostPort 80"
};
using violations = std::vector<violation>;

// In upstream's order: baseline controls by id, then restricted ones. Empty: the pod complies with
// the level.
violations evaluate(const level_version& demanded, const subject& pod);

// `hostPort (container "web" uses hostPort 80), privileged (...)`.
std::string details_of(const violations& found);
// `hostPort, privileged`.
std::string reasons_of(const violations& found);

// A control. If its level applies, it is active from version `since` until a later entry with the
// same id replaces it.
struct control {
  std::string_view id;
  pod_security::level level;
  int since;  // minor number of the version
  // Appends the violations.
  void (*check)(const subject& pod, violations& found);
  // At level restricted it replaces the control with this id.
  std::string_view replaces = {};
};

// Baseline before restricted, each ordered by id, then by `since`.
std::span<const control> controls();

}  // namespace troupe::actors::pod_security
