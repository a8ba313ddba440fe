// The part of the CRI runtime that handles containers, and commands in them.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "actors/core/log.hpp"
#include "actors/kubelet/defaults.hpp"
#include "actors/kubelet/pods/pod_containers.hpp"
#include "actors/kubelet/runtimes/cri/container_request.hpp"
#include "actors/kubelet/runtimes/cri/cri_runtime.hpp"
#include "actors/kubelet/runtimes/cri/pod_files_of_cri.hpp"
#include "actors/kubelet/runtimes/cri/pod_groups.hpp"
#include "api/schema/meta_object.pb.h"

namespace troupe::actors {

using api::core::v1::Pod;
using error_kind = runtime_error::kind;

namespace {

cri::ContainerId container_id(const std::string& id) {
  cri::ContainerId out;
  out.set_container_id(id);
  return out;
}

// The call had no answer: it may have taken effect.
bool is_lost(const grpc_error& error) {
  return error.code == grpc_code::unavailable || error.code == grpc_code::deadline_exceeded;
}

std::int64_t seconds_of(runtime::duration time) {
  return std::chrono::ceil<std::chrono::seconds>(time).count();
}

}  // namespace

void cri_runtime::create_container(container_config config, runtime_answer<std::string> done) {
  loop_->defer([this, config = std::move(config), done] {
    const auto open = creating_.insert(config.pod->meta().uid());
    const auto answer = [this, open, done](runtime_result<std::string> id) {
      loop_->defer([this, open, done, id = std::move(id)] {
        creating_.erase(open);
        done(id);
      });
    };
    remove_older(config, [this, config, answer] {
      images_.user_of(config.image_ref, [this, config, answer](const auto& user) {
        if (user) return send_container(config, *user, answer);
        answer(tl::make_unexpected(
            runtime_error{error_kind::refused, "cannot inspect the image: " + user.error().message,
                          "CreateContainerError"}));
      });
    });
  });
}

// kubernetes: one dead container is kept for each container.
void cri_runtime::remove_older(const container_config& than, std::function<void()> done) {
  if (than.attempt < 2) return done();
  list_containers(than.pod->meta().uid(),
                  [this, name = than.spec->name(), attempt = than.attempt, done](const auto& all) {
                    if (all)
                      for (const auto& each : *all)
                        if (const auto& meta = each.metadata();
                            meta.name() == name && static_cast<int>(meta.attempt()) + 1 < attempt)
                          client_->runtime<cri::Nothing>("RemoveContainer", container_id(each.id()),
                                                         [](const auto&) {});
                    done();
                  });
}

void cri_runtime::send_container(container_config config, const image_user& user,
                                 runtime_answer<std::string> done) {
  const auto uid = config.pod->meta().uid();
  const auto sandbox = sandboxes_[config.sandbox];
  const auto refuse = [done](std::string message, const char* reason) {
    done(tl::make_unexpected(runtime_error{error_kind::refused, std::move(message), reason}));
  };
  const auto make = [this, config, user, sandbox, refuse, done] {
    remove_older_files(node_, config.pod->meta().uid(), config.spec->name(), config.attempt);
    auto placed = config;
    const auto node = current_node();
    const auto files = make_container_files(placed, node, sandbox.ips);
    if (!files) return refuse(files.error(), "CreateContainerConfigError");
    auto container = container_request(placed, node, user, *files);
    if (!container) return done(tl::make_unexpected(container.error()));
    cri::CreateContainerRequest request;
    request.set_pod_sandbox_id(config.sandbox);
    *request.mutable_config() = std::move(*container);
    *request.mutable_sandbox_config() =
        sandbox_config_of(config.pod->as<Pod>(), sandbox.attempt, node);
    send_creation(request, false, [this, refuse, done](const auto& made) {
      if (!made) return refuse(made.error().message, "CreateContainerError");
      done(own_id(made->container_id()));
    });
  };
  if (!jobs_.post(uid, make)) refuse("too many jobs wait", "CreateContainerError");
}

// A creation whose answer was lost leaves a container that nobody started and whose name the server
// keeps: it is removed, and the creation is sent `again`.
void cri_runtime::send_creation(const cri::CreateContainerRequest& request, bool again,
                                std::function<void(const cri_result<cri::ContainerId>&)> done) {
  client_->runtime<cri::ContainerId>(
      "CreateContainer", request, [this, request, again, done](const auto& made) {
        if (made || again) return done(made);
        list_containers(request.sandbox_config().metadata().uid(), [this, request, done,
                                                                    made](const auto& all) {
          if (!all) return done(made);
          const auto& own = request.config().metadata();
          const auto left = std::find_if(all->begin(), all->end(), [&](const auto& each) {
            return each.state() == cri::CREATED && each.metadata().name() == own.name() &&
                   each.metadata().attempt() == own.attempt();
          });
          if (left == all->end()) return done(made);
          client_->runtime<cri::Nothing>("RemoveContainer", container_id(left->id()),
                                         [this, request, done, made](const auto& removed) {
                                           if (!removed) return done(made);
                                           send_creation(request, true, done);
                                         });
        });
      });
}

void cri_runtime::start_container(const std::string& id, container_observer observer) {
  loop_->defer([this, own = server_id(id), observer] {
    starting_.insert(own);
    client_->runtime<cri::Nothing>(
        "StartContainer", container_id(own),
        [this, own, observer](const auto& started) { take_start(own, started, observer); });
  });
}

// Without an answer of the server the container may run: its status tells.
void cri_runtime::take_start(const std::string& own, const cri_result<cri::Nothing>& started,
                             container_observer observer) {
  const auto follow = [this, own, observer] {
    starting_.erase(own);
    watcher_.follow_container(own, observer);
  };
  if (started) return follow();
  const auto failed = [this, own, observer, message = started.error().message] {
    starting_.erase(own);
    const auto now = std::chrono::duration_cast<std::chrono::milliseconds>(
                         std::chrono::system_clock::now().time_since_epoch())
                         .count();
    observer(container_exit{.code = 128, .started_ms = now, .finished_ms = now, .error = message});
  };
  if (!is_lost(started.error())) return failed();
  client_->runtime<cri::ContainerStatusResponse>(
      "ContainerStatus", container_id(own),
      [this, own, started, observer, follow, failed](const auto& status) {
        if (!status && is_lost(status.error()))
          loop_->after(cri_defaults::ask_again,
                       [this, own, started, observer] { take_start(own, started, observer); });
        else if (status && status->status().state() != cri::CREATED)
          follow();
        else
          failed();
      });
}

void cri_runtime::follow_container(const std::string& id, container_observer observer) {
  loop_->defer([this, own = server_id(id), observer] { watcher_.follow_container(own, observer); });
}

void cri_runtime::stop_container(const std::string& id, runtime::duration grace,
                                 problem_observer failed) {
  cri::StopContainerRequest request;
  request.set_container_id(server_id(id));
  const bool at_once = grace <= runtime::duration{0};
  const auto seconds = at_once ? 0 : seconds_of(grace);
  request.set_timeout(seconds);
  if (at_once) {
    // Kills are repeated each second: a busy server must not get more of them than it answers.
    const std::lock_guard lock{mutex_};
    if (!killing_.insert(server_id(id)).second) return;
  }
  if (at_once) jobs_.post([own = server_id(id)] { kill_container_group(own); });
  client_->runtime<cri::Nothing>(
      "StopContainer", request,
      [this, own = server_id(id), at_once, failed](const auto& stopped) {
        if (at_once) {
          const std::lock_guard lock{mutex_};
          killing_.erase(own);
        }
        if (!stopped && stopped.error().code != grpc_code::not_found) {
          log().warn("kubelet: container {} cannot be stopped: {}", own, stopped.error().message);
          if (failed) failed(stopped.error().message);
        }
        watcher_.check_container(own);
      },
      std::chrono::seconds{seconds} + cri_defaults::call_timeout);
}

void cri_runtime::resize(resize_request request, runtime_answer<void> done) {
  const auto& uid = request.pod->meta().uid();
  const auto shared = std::make_shared<resize_request>(std::move(request));
  const auto failed = [done](std::string problem) {
    done(tl::make_unexpected(runtime_error{error_kind::failed, std::move(problem)}));
  };
  const auto set_group = [this, uid, failed](const api::object_ptr& pod,
                                             const pod_group_limits& limits,
                                             std::function<void()> next) {
    const auto set = [pod, limits, driver = groups(), failed, next] {
      const auto unset = set_pod_group(pod->as<Pod>(), limits, groups_top, driver);
      if (!unset.empty()) return failed("the pod's control group is not set:" + unset);
      next();
    };
    if (!jobs_.post(uid, set)) failed("too many jobs wait");
  };
  const auto final_limits = group_limits_of(shared->pod->as<Pod>());
  const auto first = shared->before
                         ? larger_limits(group_limits_of(shared->before->as<Pod>()), final_limits)
                         : final_limits;
  set_group(shared->pod, first, [this, shared, set_group, first, final_limits, done] {
    loop_->defer([this, shared, set_group, first, final_limits, done] {
      resize_containers(shared, [shared, set_group, first, final_limits, done](const auto& result) {
        if (!result || first == final_limits) return done(result);
        set_group(shared->pod, final_limits, [done] { done({}); });
      });
    });
  });
}

void cri_runtime::resize_containers(const std::shared_ptr<resize_request>& request,
                                    runtime_answer<void> done) {
  if (request->containers.empty()) return done({});
  const auto container = std::move(request->containers.back());
  request->containers.pop_back();
  const auto& pod = request->pod->as<Pod>();
  cri::UpdateContainerResourcesRequest update;
  update.set_container_id(server_id(container.id));
  *update.mutable_linux() =
      resources_of(pod, *container_named(pod, container.name), node_.memory_bytes);
  client_->runtime<cri::Nothing>(
      "UpdateContainerResources", update, [this, request, done](const auto& updated) {
        if (updated) return resize_containers(request, done);
        done(tl::make_unexpected(runtime_error{error_kind::failed, updated.error().message}));
      });
}

void cri_runtime::remove_container(const std::string& id) {
  client_->runtime<cri::Nothing>("RemoveContainer", container_id(server_id(id)),
                                 [](const auto&) {});
}

void cri_runtime::run_command(const std::string& id, std::vector<std::string> command,
                              runtime::duration timeout, runtime_answer<command_result> done) {
  cri::ExecSyncRequest request;
  request.set_container_id(server_id(id));
  request.mutable_cmd()->Assign(command.begin(), command.end());
  request.set_timeout(std::max<std::int64_t>(seconds_of(timeout), 1));
  client_->runtime<cri::ExecSyncResponse>(
      "ExecSync", request,
      [done](const auto& answer) {
        if (!answer && answer.error().code == grpc_code::deadline_exceeded)
          return done(command_result{.output = {}, .timed_out = true});
        if (!answer)
          return done(
              tl::make_unexpected(runtime_error{error_kind::failed, answer.error().message}));
        auto output = answer->stdout() + answer->stderr();
        output.resize(std::min(output.size(), kubelet_defaults::check_output_bytes));
        done(command_result{answer->exit_code(), std::move(output)});
      },
      std::chrono::seconds{request.timeout()} + cri_defaults::version_timeout);
}

}  // namespace troupe::actors
