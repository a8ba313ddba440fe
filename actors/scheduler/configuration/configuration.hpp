// The scheduler's configuration in upstream's format: KubeSchedulerConfiguration of
// kubescheduler.config.k8s.io/v1. Accepted fields take effect; unsupported ones are errors, except
// those without a meaning here, which are listed as ignored. Pure functions.
//
// kubernetes: pkg/scheduler/apis/config, and runtime/framework.go for the resulting profiles.
#pragma once

#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <vector>

#include "actors/scheduler/profile.hpp"

namespace troupe::actors::scheduler {

inline constexpr std::string_view configuration_version = "kubescheduler.config.k8s.io/v1";

struct configuration {
  std::vector<profile_options> profiles;  // at least one; scheduler names are unique
  std::vector<std::string> ignored;       // fields that are set but have no effect here
};

// The error is a list of problems, each with the path of its field.
tl::expected<configuration, std::vector<std::string>> parse_configuration(std::string_view yaml);

}  // namespace troupe::actors::scheduler
