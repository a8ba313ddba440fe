// Warnings about existing pods that would violate a namespace's new level. Pure.
//
// kubernetes: pod-security-admission/admission, EvaluatePodsInNamespace.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "actors/write/pod_security/evaluate.hpp"

namespace troupe::actors::pod_security {

// Collects pods one by one and checks a bounded number of them.
class existing_pods {
 public:
  existing_pods(const level_version& demanded, const configuration& settings)
      : demanded_{demanded}, settings_{settings} {}

  void add(const api::core::v1::Pod& pod);
  // In upstream's wording and order; empty if all pods comply.
  std::vector<std::string> warnings(std::string_view ns) const;

 private:
  struct group {
    std::string first;  // the name that sorts first
    std::size_t count = 0;
  };

  const level_version& demanded_;
  const configuration& settings_;
  std::size_t seen_ = 0, checked_ = 0;
  std::map<std::string, group> by_reasons_ = {};
};

}  // namespace troupe::actors::pod_security
