// The part of a pod's worker that watches the objects the pod references and sets up its
// volumes.
#include <fmt/format.h>

#include <algorithm>

#include "actors/kubelet/defaults.hpp"
#include "actors/kubelet/pressure/storage_limits.hpp"
#include "actors/kubelet/volumes/claim_volumes.hpp"
#include "actors/kubelet/volumes/token_lifetime.hpp"
#include "actors/kubelet/volumes/volume_content.hpp"
#include "actors/kubelet/workers/pod_worker.hpp"
#include "actors/write/admission/api_access.hpp"
#include "api/schema/core_config.pb.h"
#include "api/scheme.hpp"

namespace troupe::actors {

using api::core::v1::Container;
using api::core::v1::Pod;
using api::core::v1::Secret;

namespace {

// Volumes made from API objects are read-only for containers whatever the mount says, because other
// containers read them too (kubernetes: Attributes.ReadOnly of such volumes). So is a claim that
// the pod mounts read-only.
bool sealed(const Pod& pod, const std::string& volume) {
  const auto& all = pod.spec().volumes();
  return std::any_of(all.begin(), all.end(), [&](const auto& each) {
    return each.name() == volume && (made_of_files(each.volume_source()) ||
                                     each.volume_source().persistent_volume_claim().read_only());
  });
}

bool of_the_host(const Pod& pod, const std::string& volume) {
  const auto& all = pod.spec().volumes();
  return std::any_of(all.begin(), all.end(), [&](const auto& each) {
    return each.name() == volume && each.volume_source().has_host_path();
  });
}

}  // namespace

void pod_worker::need_references_of_pod() {
  ephemeral_known_ = static_cast<std::size_t>(pod().spec().ephemeral_containers_size());
  needed_ = referenced_keys(pod());
  needed_.push_back(api_key(context_->api));
  needed_.push_back(services_prefix(pod()));
}

void pod_worker::request_references() {
  if (!needed_.empty()) tell(context_->references, need_references{needed_});
}

// A claim names its volume only once it is bound.
void pod_worker::follow_volume_of(const api::object_ptr& claim) {
  const auto key = volume_key(claim);
  if (key.empty() || std::find(needed_.begin(), needed_.end(), key) != needed_.end()) return;
  needed_.push_back(key);
  request_references();
}

bool pod_worker::references_known() const {
  return std::all_of(needed_.begin(), needed_.end(), [&](const auto& key) {
    return key.ends_with('/') ? services_ != nullptr : references_.contains(key);
  });
}

// Copies the references, for use on other threads.
object_reader pod_worker::reference_reader() const {
  return [known = references_](const std::string& key) -> api::object_ptr {
    const auto found = known.find(key);
    return found == known.end() ? nullptr : found->second;
  };
}

// A missing secret is no error: the image may be public or present (kubernetes: kubelet_pods.go,
// getPullSecretsForPod).
std::vector<api::object_ptr> pod_worker::pull_secrets() {
  std::vector<api::object_ptr> found;
  std::vector<std::string> missing;
  for (const auto& reference : pod().spec().image_pull_secrets()) {
    const auto& secret =
        references_.at(api::kind_of<Secret>().key(pod().metadata().namespace_(), reference.name()));
    if (secret)
      found.push_back(secret);
    else
      missing.push_back(reference.name());
  }
  if (!missing.empty())
    record_pod_event(true, "FailedToRetrieveImagePullSecret",
                     fmt::format("Unable to retrieve some image pull secrets ({}); attempting to "
                                 "pull the image may not succeed.",
                                 fmt::join(missing, ", ")));
  return found;
}

// The pod as its containers see it: with its addresses, which the status may not contain yet, and
// with limits from the machine's capacity.
Pod pod_worker::placed_pod() const {
  Pod placed{allocated_->as<Pod>()};
  auto& status = *placed.mutable_status();
  status.set_host_ip(addresses_.host_ip);
  status.clear_host_ips();
  for (const auto& ip : {addresses_.host_ip, addresses_.second_host_ip})
    if (!ip.empty()) status.add_host_ips()->set_ip(ip);
  status.set_pod_ip(addresses_.pod_ip());
  status.clear_pod_ips();
  for (const auto& ip : addresses_.pod_ips)
    status.add_pod_ips()->set_ip(ip);
  limit_to_machine(placed, context_->machine);
  return placed;
}

// -- tokens ---------------------------------------------------------------------------------------

void pod_worker::request_tokens() {
  if (finished(pod().status())) return;
  for (auto& [wanted, held] : tokens_) {
    if (held.asked || now() < held.ask_at) continue;
    held.asked = true;
    token_spec order{.ns = pod().metadata().namespace_(),
                     .account = pod().spec().service_account_name(),
                     .audiences = {},
                     .expiration_seconds = wanted.expiration_seconds,
                     .bound_kind = "Pod",
                     .bound_api_version = "v1",
                     .bound_name = pod().metadata().name(),
                     .bound_uid = uid_};
    if (!wanted.audience.empty()) order.audiences.push_back(wanted.audience);
    request<token_answer>(
        context_->tokens, request_token{std::move(order)}, kubelet_defaults::write_timeout,
        [this, wanted](const auto& answered) {
          if (answered) return take_token(wanted, (*answered)->result);
          take_token(wanted,
                     api::fail(api::service_unavailable(runtime::to_string(answered.error()))));
        });
  }
}

// The old token is used until there is a new one.
void pod_worker::take_token(const projected_token& wanted,
                            const api::expected<granted_token>& result) {
  auto& held = tokens_[wanted];
  held.asked = false;
  if (result) {
    held.text = result->token;
    held.backoff = {};
    held.ask_at = now() + token_use(wanted.expiration_seconds, random());
    volumes_stale_ = true;
    volumes_retry_at_ = {};
  } else {
    held.backoff =
        std::clamp<runtime::duration>(held.backoff * 2, kubelet_defaults::volume_retry_first,
                                      kubelet_defaults::volume_retry_longest);
    held.ask_at = now() + held.backoff;
    if (!terminating())
      record_pod_event(true, "FailedMount", "failed to fetch token: " + result.error().message);
  }
  sync();
}

bool pod_worker::tokens_known() const {
  return std::none_of(tokens_.begin(), tokens_.end(),
                      [](const auto& each) { return each.second.text.empty(); });
}

pod_tokens pod_worker::newest_tokens() const {
  pod_tokens all;
  for (const auto& [wanted, held] : tokens_)
    all[wanted] = held.text;
  return all;
}

// -- volumes --------------------------------------------------------------------------------------

// Runs at first, and again when the source of a volume's files has changed.
void pod_worker::sync_volumes() {
  if (pod().spec().volumes_size() == 0) {
    volumes_ready_ = true;
    volumes_stale_ = false;
  }
  if (!volumes_stale_ || volumes_working_ || !references_known() || !tokens_known() ||
      now() < volumes_retry_at_ || finished(pod().status()))
    return;
  volumes_stale_ = false;
  volumes_working_ = context_->helpers.jobs->post(
      uid_, [pod = placed_pod(), dir = pod_dir(), read = reference_reader(),
             may_mount = context_->may_mount, hidden = context_->hidden, tokens = newest_tokens(),
             to = self()] {
        to.tell(volumes_event{set_up_volumes(pod, dir, read, may_mount, hidden, tokens)});
      });
  if (!volumes_working_) {
    volumes_stale_ = true;
    volumes_retry_at_ = now() + kubelet_defaults::volume_retry_first;
  }
}

void pod_worker::on_volumes_event(const volumes_event& m) {
  volumes_working_ = false;
  for (const auto& [name, path] : m.result.paths)
    volume_paths_[name] = path;
  for (const auto& [name, path] : m.result.devices)
    device_paths_[name] = path;
  for (const auto& problem : m.result.problems)
    record_pod_event(true, problem.reason, problem.message);
  if (m.result.problems.empty()) {
    const bool first = !std::exchange(volumes_ready_, true);
    volumes_backoff_ = {};
    if (first && !containers().features().mounts_volumes) {
      // Leave out the token volume that admission adds.
      std::string variables;
      for (const auto& [name, path] : volume_paths_)
        if (!name.starts_with(admission::api_access_prefix))
          variables +=
              fmt::format("{}{}={}", variables.empty() ? "" : ", ", volume_variable(name), path);
      if (!variables.empty())
        record_pod_event(true, "NotSupported",
                         "volumes are not mounted: this node cannot create mount namespaces; "
                         "containers find their paths by environment variables: " +
                             variables);
    }
  } else {
    // Volumes that were set up before stay.
    volumes_stale_ = true;
    volumes_backoff_ =
        std::clamp<runtime::duration>(volumes_backoff_ * 2, kubelet_defaults::volume_retry_first,
                                      kubelet_defaults::volume_retry_longest);
    volumes_retry_at_ = now() + volumes_backoff_;
  }
  sync();
}

void pod_worker::measure_storage() {
  if (!volumes_ready_ || measuring_ || terminating() || failure_ || finished(pod().status()))
    return;
  measuring_ = true;
  const auto measure = [jobs = context_->helpers.jobs, object = object_, dir = pod_dir(),
                        to = self()](const std::vector<layer_usage>& layers) {
    const bool taken = jobs->post([object, dir, layers, to] {
      const auto& measured = object->as<Pod>();
      to.tell(storage_measured{over_limit(measured, read_storage(measured, dir, layers))});
    });
    if (!taken) to.tell(storage_measured{});
  };
  if (limits_containers(pod()))
    containers().read_layers(uid_, measure);
  else
    measure({});
}

void pod_worker::on_storage_measured(const storage_measured& m) {
  measuring_ = false;
  if (!m.failure || terminating() || failure_ || finished(pod().status())) return;
  fail_pod(*m.failure);
}

// Fails for an ephemeral container that uses a volume as another volumeMode: the pod's other
// containers were checked when the volume was set up (kubernetes: kubelet_pods.go, makeMounts and
// makeBlockVolumes).
tl::expected<void, std::string> pod_worker::place_volumes(const Container& container,
                                                          container_config& config) const {
  for (const auto& wanted : container.volume_devices()) {
    const auto& target = wanted.device_path();
    if (!target.starts_with('/'))
      return tl::make_unexpected(
          fmt::format("error DevicePath `{}` must be an absolute path", target));
    const auto found = device_paths_.find(wanted.name());
    if (found == device_paths_.end())
      return tl::make_unexpected(
          fmt::format("cannot find volume \"{}\" to pass into container \"{}\"", wanted.name(),
                      container.name()));
    config.devices.push_back({found->second, target, sealed(pod(), wanted.name())});
  }
  for (const auto& wanted : container.volume_mounts()) {
    const auto found = volume_paths_.find(wanted.name());
    if (found == volume_paths_.end())
      return tl::make_unexpected(
          fmt::format("cannot find volume \"{}\" to mount into container \"{}\"", wanted.name(),
                      container.name()));
    const auto sub_path = wanted.sub_path_expr().empty()
                              ? wanted.sub_path()
                              : expand_variables(wanted.sub_path_expr(), config.environment);
    auto target = (std::filesystem::path{"/"} / wanted.mount_path()).lexically_normal().string();
    if (target.size() > 1 && target.ends_with('/')) target.pop_back();
    config.mounts.push_back({found->second, sub_path, std::move(target),
                             wanted.read_only() || sealed(pod(), wanted.name()),
                             !of_the_host(pod(), wanted.name())});
  }
  if (containers().features().mounts_volumes) return {};
  for (const auto& wanted : container.volume_mounts())
    config.environment.push_back(volume_variable(wanted.name()) + "=" +
                                 volume_paths_.at(wanted.name()));
  return {};
}

}  // namespace troupe::actors
