// The configuration of the scheduler in upstream's own form: KubeSchedulerConfiguration of
// kubescheduler.config.k8s.io/v1. What is taken is honoured; what cannot be honoured is refused,
// but for what can have no meaning here, which is named. Pure.
//
// kubernetes: pkg/scheduler/apis/config, and runtime/framework.go for what profiles come to.
#pragma once

#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <vector>

#include "actors/scheduler/profile.hpp"

namespace troupe::actors::scheduler {

inline constexpr std::string_view configuration_version = "kubescheduler.config.k8s.io/v1";

struct configuration {
  std::vector<profile_options> profiles;  // at least one; their schedulers have different names
  std::vector<std::string> ignored;       // fields that are set and mean nothing here
};

// The error is a list of problems, each with the path of its field.
tl::expected<configuration, std::vector<std::string>> parse_configuration(std::string_view yaml);

}  // namespace troupe::actors::scheduler
