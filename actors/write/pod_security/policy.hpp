// The policy of a namespace from its labels pod-security.kubernetes.io/*: a level and a version for
// each of three modes. Pure functions.
//
// kubernetes: staging/src/k8s.io/pod-security-admission/api.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/error.hpp"
#include "api/schema/core_pod.pb.h"

namespace troupe::actors::pod_security {

// In order of strictness.
enum class level : std::uint8_t { privileged, baseline, restricted };
std::string_view to_string(level of) noexcept;
// "privileged", "baseline", "restricted".
std::optional<level> parse_level(std::string_view text) noexcept;

// A version of the policies: the minor number of v1.MINOR.
struct version {
  static constexpr int latest = -1;

  int minor = latest;

  // The minor version to apply: `latest` is that of the served API.
  int effective() const noexcept;
  bool operator==(const version&) const = default;
};
// "latest", "v1.25".
std::string to_string(version of);
std::optional<version> parse_version(std::string_view text) noexcept;

struct level_version {
  pod_security::level level = level::privileged;
  pod_security::version version = {};

  bool operator==(const level_version&) const = default;
};
// "restricted:latest".
std::string to_string(const level_version& of);

struct policy {
  level_version enforce = {}, audit = {}, warn = {};

  bool is_privileged() const noexcept;
  bool operator==(const policy&) const = default;
};
// "enforce=baseline:v1.25, warn=restricted:latest": only modes that are not privileged.
std::string to_string(const policy& of);

struct labelled_policy {
  pod_security::policy policy;
  // Invalid labels. Then `enforce` is restricted, `audit` and `warn` are privileged.
  std::vector<api::error_cause> problems;
};
// Modes without a label are taken from `defaults`.
labelled_policy policy_of(const api::meta::v1::ObjectMeta& meta, const policy& defaults);

// The configuration of the control plane; see docs/security.md.
struct configuration {
  policy defaults = {};
  std::vector<std::string> exempt_namespaces = {}, exempt_users = {}, exempt_runtime_classes = {};

  bool exempts_namespace(std::string_view name) const;
  bool exempts_user(std::string_view name) const;
  bool exempts_class(const api::core::v1::PodSpec& spec) const;
};
// The configuration of this process: the one set before the first write, or the default.
const configuration& configured();
void configure(configuration settings);

}  // namespace troupe::actors::pod_security
