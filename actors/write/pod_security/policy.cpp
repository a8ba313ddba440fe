#include "actors/write/pod_security/policy.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "actors/write/pod_security/defaults.hpp"
#include "api/validation/field_errors.hpp"
#include "api/values/integer.hpp"

namespace troupe::actors::pod_security {
namespace {

constexpr std::array<std::string_view, 3> level_names{"privileged", "baseline", "restricted"};
constexpr std::string_view label_prefix = "pod-security.kubernetes.io/";

configuration& settings() {
  static configuration given;
  return given;
}

bool contains(const std::vector<std::string>& names, std::string_view name) {
  return !name.empty() && std::find(names.begin(), names.end(), name) != names.end();
}

struct reader {
  const api::meta::v1::ObjectMeta& meta;
  api::field_errors problems = {};

  template <class T>
  void read(std::string_view mode, std::optional<T> parse(std::string_view) noexcept,
            std::string_view expected, T if_invalid, T& into) {
    const auto label = fmt::format("{}{}", label_prefix, mode);
    const auto found = meta.labels().find(label);
    if (found == meta.labels().end()) return;
    const auto parsed = parse(found->second);
    into = parsed.value_or(if_invalid);
    if (!parsed)
      problems.invalid(fmt::format("metadata.labels[{}]", label), found->second, expected);
  }

  void read_mode(const std::string& mode, level if_invalid, level_version& into) {
    read(mode, parse_level, "must be one of privileged, baseline, restricted", if_invalid,
         into.level);
    read(mode + "-version", parse_version, "must be \"latest\" or \"v1.x\"", version{},
         into.version);
  }
};

}  // namespace

std::string_view to_string(level of) noexcept {
  return level_names[static_cast<std::size_t>(of)];
}

std::optional<level> parse_level(std::string_view text) noexcept {
  for (std::size_t i = 0; i < level_names.size(); ++i)
    if (level_names[i] == text) return static_cast<level>(i);
  return std::nullopt;
}

int version::effective() const noexcept {
  return minor == latest ? defaults::served_version : minor;
}

std::string to_string(version of) {
  return of.minor == version::latest ? "latest" : fmt::format("v1.{}", of.minor);
}

std::optional<version> parse_version(std::string_view text) noexcept {
  constexpr std::string_view prefix = "v1.";
  if (text == "latest") return version{};
  if (!text.starts_with(prefix)) return std::nullopt;
  text.remove_prefix(prefix.size());
  if (text.empty() || (text.size() > 1 && text.front() == '0') || text.front() == '-')
    return std::nullopt;
  const auto minor = api::parse_integer<int>(text);
  return minor ? std::optional{version{*minor}} : std::nullopt;
}

std::string to_string(const level_version& of) {
  return fmt::format("{}:{}", to_string(of.level), to_string(of.version));
}

bool policy::is_privileged() const noexcept {
  return enforce.level == level::privileged && audit.level == level::privileged &&
         warn.level == level::privileged;
}

std::string to_string(const policy& of) {
  std::string text;
  const auto add = [&](std::string_view mode, const level_version& demanded) {
    if (demanded.level == level::privileged) return;
    text += fmt::format("{}{}={}", text.empty() ? "" : ", ", mode, to_string(demanded));
  };
  add("enforce", of.enforce);
  add("audit", of.audit);
  add("warn", of.warn);
  return text;
}

bool configuration::exempts_namespace(std::string_view name) const {
  return contains(exempt_namespaces, name);
}

bool configuration::exempts_user(std::string_view name) const {
  return contains(exempt_users, name);
}

bool configuration::exempts_class(const api::core::v1::PodSpec& spec) const {
  return contains(exempt_runtime_classes, spec.runtime_class_name());
}

const configuration& configured() {
  return settings();
}

void configure(configuration given) {
  settings() = std::move(given);
}

labelled_policy policy_of(const api::meta::v1::ObjectMeta& meta, const policy& defaults) {
  labelled_policy result{.policy = defaults, .problems = {}};
  if (meta.labels().empty()) return result;
  reader from{meta};
  from.read_mode("enforce", level::restricted, result.policy.enforce);
  from.read_mode("audit", level::privileged, result.policy.audit);
  from.read_mode("warn", level::privileged, result.policy.warn);
  result.problems = from.problems.take();
  return result;
}

}  // namespace troupe::actors::pod_security
