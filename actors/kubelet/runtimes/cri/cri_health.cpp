// The part of the CRI runtime that knows what its server is able to, how it is configured, and what
// it lacks.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "actors/core/log.hpp"
#include "actors/kubelet/runtimes/cri/cri_runtime.hpp"

namespace troupe::actors {

std::string cri_runtime::problem() const {
  const std::lock_guard lock{mutex_};
  return problem_;
}

std::string cri_runtime::network_problem() const {
  const std::lock_guard lock{mutex_};
  return network_problem_;
}

// -- version and features -------------------------------------------------------------------------

void cri_runtime::take_version(const cri::VersionResponse& version) {
  const std::lock_guard lock{mutex_};
  features_.name = version.runtime_name();
  features_.version = fmt::format("{}://{}", features_.name, version.runtime_version());
}

// A container's runtime handler is not known here: mounts are as with the least able handler.
void cri_runtime::take_features(const cri::StatusResponse& status) {
  const auto& handlers = status.runtime_handlers();
  const std::lock_guard lock{mutex_};
  strict_groups_ = status.features().supplemental_groups_policy();
  recursive_read_only_ =
      !handlers.empty() && std::all_of(handlers.begin(), handlers.end(), [](const auto& each) {
        return each.features().recursive_read_only_mounts();
      });
}

// -- configuration --------------------------------------------------------------------------------

group_driver cri_runtime::groups() const {
  const std::lock_guard lock{mutex_};
  return groups_;
}

cri_node cri_runtime::current_node() const {
  auto node = node_;
  node.dns = parse_dns(resolvers_.text());
  const std::lock_guard lock{mutex_};
  node.recursive_read_only = recursive_read_only_;
  node.groups = groups_;
  return node;
}

void cri_runtime::ask_config(std::function<void()> next) {
  cri::StatusRequest verbose;
  verbose.set_verbose(true);
  client_->runtime<cri::StatusResponse>("Status", verbose, [this, next](const auto& status) {
    if (!status) return next();
    client_->runtime<cri::RuntimeConfigResponse>(
        "RuntimeConfig", cri::Nothing{},
        [this, next, status = *status](const auto& config) {
          take_config(status, config);
          next();
        },
        cri_defaults::version_timeout);
  });
}

// containerd has RuntimeConfig from version 2.0 on; the verbose Status of older ones names the
// driver.
void cri_runtime::take_config(const cri::StatusResponse& status,
                              const cri_result<cri::RuntimeConfigResponse>& config) {
  auto driver = group_driver_of(status).value_or(group_driver::cgroupfs);
  if (config && config->has_linux())
    driver = config->linux().cgroup_driver() == cri::SYSTEMD ? group_driver::systemd
                                                             : group_driver::cgroupfs;
  config_known_ = true;
  sandbox_image_ = sandbox_image_of(status);
  std::optional<pods_limits> again;
  std::optional<std::int64_t> burstable_again;
  {
    const std::lock_guard lock{mutex_};
    if (std::exchange(groups_, driver) == driver) return;
    again = all_pods_limits_;
    burstable_again = burstable_milli_cpu_;
  }
  log().info("kubelet: the container runtime's driver of control groups is {}",
             driver == group_driver::systemd ? "systemd" : "cgroupfs");
  if (again) limit_pods(*again);
  if (burstable_again) share_cpu(*burstable_again);
}

// -- what is missing ------------------------------------------------------------------------------

std::string cri_runtime::groups_problem() const {
  std::error_code ignored;
  if (groups() != group_driver::systemd || std::filesystem::exists(options_.systemd, ignored))
    return {};
  return "container runtime makes control groups by systemd, which does not run on this machine: "
         "set SystemdCgroup = false in its configuration and restart it";
}

// The runtime makes no sandbox without this image. It is pulled here, so that the node names what
// is missing, and not each pod.
void cri_runtime::check_sandbox_image() {
  const auto again = [this](std::chrono::milliseconds delay) {
    loop_->after(delay, [this] { check_sandbox_image(); });
  };
  if (sandbox_image_.empty()) return again(cri_defaults::sandbox_image_check);
  cri::ImageStatusRequest ask;
  ask.mutable_image()->set_image(sandbox_image_);
  client_->images<cri::ImageStatusResponse>("ImageStatus", ask, [this, again](const auto& found) {
    if (!found) return again(cri_defaults::sandbox_image_again);
    if (found->has_image()) {
      sandbox_image_problem_.clear();
      pulling_sandbox_image_ = false;  // the pull's answer is ignored
      return again(cri_defaults::sandbox_image_check);
    }
    again(cri_defaults::sandbox_image_again);
    if (std::exchange(pulling_sandbox_image_, true)) {
      if (sandbox_image_problem_.empty())
        sandbox_image_problem_ =
            fmt::format("the image {} of sandboxes is missing and is being pulled", sandbox_image_);
      return;
    }
    cri::PullImageRequest pull;
    pull.mutable_image()->set_image(sandbox_image_);
    client_->images<cri::PullImageResponse>(
        "PullImage", pull,
        [this, image = sandbox_image_](const auto& pulled) {
          if (!std::exchange(pulling_sandbox_image_, false)) return;
          sandbox_image_problem_ =
              pulled ? std::string{}
                     : fmt::format(
                           "the image {} of sandboxes is missing and cannot be pulled ({}): "
                           "import it by `troupe image import`",
                           image, pulled.error().message);
        },
        cri_defaults::sandbox_timeout);
  });
}

void cri_runtime::check_health() {
  client_->runtime<cri::StatusResponse>("Status", cri::StatusRequest{}, [this](const auto& status) {
    if (status && !config_known_) return ask_config([this, status] { report_health(status); });
    config_known_ = status.has_value();
    report_health(status);
  });
}

// kubernetes: runtime.go, runtimeErrors and networkErrors.
void cri_runtime::report_health(const cri_result<cri::StatusResponse>& status) {
  std::string problem, network_problem;
  if (!status) {
    problem = "container runtime is down: " + status.error().message;
  } else {
    take_features(*status);
    for (const auto& each : status->status().conditions()) {
      if (each.status()) continue;
      const bool network = each.type() == "NetworkReady";
      const auto text = fmt::format("container runtime {}: {}=false reason:{} message:{}",
                                    network ? "network not ready" : "not ready", each.type(),
                                    each.reason(), each.message());
      if (problem.empty()) problem = text;
      if (network) network_problem = text;
    }
    if (problem.empty()) problem = groups_problem();
    if (problem.empty()) problem = sandbox_image_problem_;
  }
  {
    const std::lock_guard lock{mutex_};
    if (problem_ != problem)
      log().warn("kubelet: {}", problem.empty() ? "container runtime is ready" : problem);
    problem_ = problem;
    network_problem_ = network_problem;
  }
  if (status && features().version == unknown_version)
    client_->runtime<cri::VersionResponse>("Version", cri::VersionRequest{},
                                           [this](const auto& version) {
                                             if (version) take_version(*version);
                                           });
  loop_->after(cri_defaults::health_period, [this] { check_health(); });
}

}  // namespace troupe::actors
