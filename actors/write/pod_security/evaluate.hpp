// Whether a pod keeps the Pod Security Standards: the controls of a level, as they were at a
// version of Kubernetes. Pure functions of the pod's metadata and spec.
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

// A pod, or the template of pods. References: valid during one call.
struct subject {
  const api::meta::v1::ObjectMeta& meta;
  const api::core::v1::PodSpec& spec;
};

// One control that is broken, in upstream's words.
struct violation {
  std::string reason;  // "hostPort"
  std::string detail;  // "container "web" uses hostPort 80"
};
using violations = std::vector<violation>;

// In upstream's order: controls of baseline by their id, then those of restricted. Empty: the pod
// is as the level demands.
violations evaluate(const level_version& demanded, const subject& pod);

// `hostPort (container "web" uses hostPort 80), privileged (...)`.
std::string details_of(const violations& found);
// `hostPort, privileged`.
std::string reasons_of(const violations& found);

// A control. Where its level demands it, it holds from one version on, until another one of the
// same id replaces it.
struct control {
  std::string_view id;
  pod_security::level level;
  int since;  // minor number of the version
  // Adds what is broken to the violations.
  void (*check)(const subject& pod, violations& found);
  // At level restricted, it holds in place of the control of this id.
  std::string_view replaces = {};
};

// Baseline before restricted, each in the order of their ids, then by `since`.
std::span<const control> controls();

}  // namespace troupe::actors::pod_security
