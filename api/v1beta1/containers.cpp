// Containers and volumes.
#include <algorithm>
#include <limits>

#include "api/conversion/default_copy.hpp"
#include "api/v1beta1/conversion.hpp"
#include "api/values/integer.hpp"
#include "api/values/quantity.hpp"

namespace troupe::api::v1beta1 {
namespace {

// Pull policies and other words in both versions.
struct word_pair {
  std::string_view old_word;
  std::string_view word;
};
constexpr word_pair pull_policies[] = {
    {"PullAlways", "Always"}, {"PullIfNotPresent", "IfNotPresent"}, {"PullNever", "Never"}};

// An unknown word is kept: validation reports it.
std::string word_of(std::string_view old_word) {
  for (const auto& pair : pull_policies)
    if (pair.old_word == old_word) return std::string(pair.word);
  return std::string(old_word);
}
std::string old_word_of(std::string_view word) {
  for (const auto& pair : pull_policies)
    if (pair.word == word) return std::string(pair.old_word);
  return std::string(word);
}

// 2014 allowed port numbers as strings; today a string is a name.
void to_port(const intstr::IntOrString& from, intstr::IntOrString& to) {
  to = from;
  if (from.type() != 1) return;
  const auto number = parse_integer<std::int32_t>(from.str_val());
  if (!number) return;
  to.Clear();
  if (*number != 0) to.set_int_val(*number);
}

void to_http_get(const HTTPGetAction& from, core::v1::HTTPGetAction& to) {
  default_copy(from, to);
  if (from.has_port()) to_port(from.port(), *to.mutable_port());
}

bool has_action(const LivenessProbe& probe, std::string_view action) {
  return probe.type().empty() || probe.type() == action;
}

void to_probe(const LivenessProbe& from, core::v1::Probe& to) {
  auto& handler = *to.mutable_handler();
  if (from.has_http_get() && has_action(from, "http"))
    to_http_get(from.http_get(), *handler.mutable_http_get());
  if (from.has_tcp_socket() && has_action(from, "tcp")) {
    auto& socket = *handler.mutable_tcp_socket();
    if (from.tcp_socket().has_port()) to_port(from.tcp_socket().port(), *socket.mutable_port());
  }
  if (from.has_exec() && has_action(from, "exec"))
    default_copy(from.exec(), *handler.mutable_exec());
  constexpr std::int64_t longest = std::numeric_limits<std::int32_t>::max();
  const auto delay = std::clamp<std::int64_t>(from.initial_delay_seconds(), -longest, longest);
  if (delay != 0) to.set_initial_delay_seconds(static_cast<std::int32_t>(delay));
}

void from_probe(const core::v1::Probe& from, LivenessProbe& to) {
  const auto& handler = from.handler();
  if (handler.has_http_get()) default_copy(handler.http_get(), *to.mutable_http_get());
  if (handler.has_tcp_socket()) default_copy(handler.tcp_socket(), *to.mutable_tcp_socket());
  if (handler.has_exec()) default_copy(handler.exec(), *to.mutable_exec());
  if (from.initial_delay_seconds() != 0) to.set_initial_delay_seconds(from.initial_delay_seconds());
}

void to_handler(const Handler& from, core::v1::LifecycleHandler& to) {
  if (from.has_exec()) default_copy(from.exec(), *to.mutable_exec());
  if (from.has_http_get()) to_http_get(from.http_get(), *to.mutable_http_get());
}

void set_limit(core::v1::Container& to, const char* resource, const quantity& amount) {
  (*to.mutable_resources()->mutable_limits())[resource].set_string(amount.str());
}

// Zero if there is none.
quantity limit_of(const core::v1::Container& from, const char* resource) {
  const auto& limits = from.resources().limits();
  const auto found = limits.find(resource);
  if (found == limits.end()) return {};
  return quantity::parse(found->second.string()).value_or(quantity());
}

}  // namespace

// `command` of 2014 was Docker's Cmd: arguments of the image's entry point.
void to_container(const Container& from, core::v1::Container& to) {
  if (from.has_name()) to.set_name(from.name());
  if (from.has_image()) to.set_image(from.image());
  *to.mutable_args() = from.command();
  if (from.has_working_dir()) to.set_working_dir(from.working_dir());
  for (const auto& each : from.ports())
    default_copy(each, *to.add_ports());
  for (const auto& each : from.env()) {
    auto& made = *to.add_env();
    if (const auto& name = each.name().empty() ? each.key() : each.name(); !name.empty())
      made.set_name(name);
    if (each.has_value()) made.set_value(each.value());
  }
  if (from.memory() != 0)
    set_limit(to, "memory", quantity::of(from.memory(), quantity::notation::binary));
  if (from.cpu() != 0) set_limit(to, "cpu", quantity::of_milli(from.cpu()));
  for (const auto& each : from.volume_mounts()) {
    auto& made = *to.add_volume_mounts();
    if (each.has_name()) made.set_name(each.name());
    if (each.has_read_only()) made.set_read_only(each.read_only());
    const auto& path = each.mount_path().empty() ? each.path() : each.mount_path();
    if (!path.empty()) made.set_mount_path(path);
  }
  if (from.has_liveness_probe()) to_probe(from.liveness_probe(), *to.mutable_liveness_probe());
  if (from.has_lifecycle()) {
    auto& made = *to.mutable_lifecycle();
    if (from.lifecycle().has_post_start())
      to_handler(from.lifecycle().post_start(), *made.mutable_post_start());
    if (from.lifecycle().has_pre_stop())
      to_handler(from.lifecycle().pre_stop(), *made.mutable_pre_stop());
  }
  if (from.privileged()) to.mutable_security_context()->set_privileged(true);
  if (!from.image_pull_policy().empty())
    to.set_image_pull_policy(word_of(from.image_pull_policy()));
}

void from_container(const core::v1::Container& from, Container& to) {
  if (from.has_name()) to.set_name(from.name());
  if (from.has_image()) to.set_image(from.image());
  *to.mutable_command() = from.args();
  if (from.has_working_dir()) to.set_working_dir(from.working_dir());
  for (const auto& each : from.ports())
    default_copy(each, *to.add_ports());
  for (const auto& each : from.env())
    default_copy(each, *to.add_env());
  if (const auto amount = limit_of(from, "memory"); !amount.is_zero())
    to.set_memory(amount.value());
  if (const auto amount = limit_of(from, "cpu"); !amount.is_zero())
    to.set_cpu(amount.milli_value());
  for (const auto& each : from.volume_mounts())
    default_copy(each, *to.add_volume_mounts());
  if (from.has_liveness_probe()) from_probe(from.liveness_probe(), *to.mutable_liveness_probe());
  if (from.has_lifecycle()) default_copy(from.lifecycle(), *to.mutable_lifecycle());
  if (from.security_context().privileged()) to.set_privileged(true);
  if (!from.image_pull_policy().empty())
    to.set_image_pull_policy(old_word_of(from.image_pull_policy()));
}

// Fields that v0.2 and v0.3 write in different ways are set in both.
void fill_container(Container& content) {
  for (auto& each : *content.mutable_env()) {
    if (each.name().empty() && !each.key().empty()) each.set_name(each.key());
    if (!each.name().empty()) each.set_key(each.name());
  }
  for (auto& each : *content.mutable_volume_mounts()) {
    if (each.mount_path().empty() && !each.path().empty()) each.set_mount_path(each.path());
    if (!each.mount_path().empty()) each.set_path(each.mount_path());
  }
  if (!content.has_liveness_probe() || !content.liveness_probe().type().empty()) return;
  auto& probe = *content.mutable_liveness_probe();
  if (probe.has_http_get())
    probe.set_type("http");
  else if (probe.has_tcp_socket())
    probe.set_type("tcp");
  else if (probe.has_exec())
    probe.set_type("exec");
}

void to_volume(const Volume& from, core::v1::Volume& to) {
  if (from.has_name()) to.set_name(from.name());
  if (!from.has_source()) return;
  auto& source = *to.mutable_volume_source();
  if (from.source().has_host_dir())
    default_copy(from.source().host_dir(), *source.mutable_host_path());
  if (from.source().has_empty_dir()) source.mutable_empty_dir();
  if (from.source().has_persistent_disk())
    default_copy(from.source().persistent_disk(), *source.mutable_gce_persistent_disk());
  if (from.source().has_git_repo())
    default_copy(from.source().git_repo(), *source.mutable_git_repo());
}

// A volume type that v1beta1 does not support has a name only.
void from_volume(const core::v1::Volume& from, Volume& to) {
  if (from.has_name()) to.set_name(from.name());
  const auto& source = from.volume_source();
  if (source.has_host_path())
    default_copy(source.host_path(), *to.mutable_source()->mutable_host_dir());
  if (source.has_empty_dir()) to.mutable_source()->mutable_empty_dir();
  if (source.has_gce_persistent_disk())
    default_copy(source.gce_persistent_disk(), *to.mutable_source()->mutable_persistent_disk());
  if (source.has_git_repo())
    default_copy(source.git_repo(), *to.mutable_source()->mutable_git_repo());
}

}  // namespace troupe::api::v1beta1
