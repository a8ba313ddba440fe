#include "actors/kubelet/runtimes/cri/container_watcher.hpp"

#include <signal.h>

#include <chrono>
#include <string_view>

#include "actors/core/log.hpp"
#include "actors/core/metrics.hpp"
#include "actors/kubelet/runtimes/cri/containerd_events.pb.h"
#include "actors/kubelet/runtimes/cri/log_rotation.hpp"
#include "actors/kubelet/runtimes/cri/pod_files_of_cri.hpp"

namespace troupe::actors {

namespace {

constexpr std::int64_t ns_of_ms = 1'000'000;

std::int64_t now_ms() {
  return std::chrono::duration_cast<std::chrono::milliseconds>(
             std::chrono::system_clock::now().time_since_epoch())
      .count();
}

}  // namespace

container_exit exit_of(const cri::ContainerStatus& ended) {
  container_exit exit{.code = ended.exit_code(),
                      .started_ms = ended.started_at() / ns_of_ms,
                      .finished_ms = ended.finished_at() / ns_of_ms,
                      .out_of_memory = ended.reason() == "OOMKilled"};
  // It never ran: the runtime's message says why (StartError).
  if (ended.reason() == "StartError") exit.error = ended.message();
  return exit;
}

container_watcher::container_watcher(std::shared_ptr<event_loop> loop,
                                     std::shared_ptr<cri_client> client, job_queue& jobs,
                                     const log_limits& logs)
    : loop_{std::move(loop)}, client_{std::move(client)}, jobs_{jobs}, log_limits_{logs} {}

void container_watcher::start() {
  listen();
  list_later();
  rotate_periodically();
}

// CRI-O has no event service: there only relisting finds changes.
void container_watcher::listen() {
  cri::events::SubscribeRequest request;
  for (const auto* topic : {"delete", "oom"})
    request.add_filters(std::string{"topic==\"/tasks/"} + topic + "\",namespace==k8s.io");
  client_->channel().subscribe(
      "containerd.services.events.v1.Events/Subscribe", request.SerializeAsString(),
      {{"containerd-namespace", "k8s.io"}},
      [this](std::string_view bytes) {
        cri::events::Envelope news;
        cri::events::TaskEvent task;
        if (!news.ParseFromArray(bytes.data(), static_cast<int>(bytes.size())) ||
            !task.ParseFromString(news.event().value()))
          return;
        if (news.topic() == "/tasks/oom") return check_container(task.container_id());
        check_ended(task.container_id(), cri_defaults::ended_first);
      },
      [this](const grpc_error& error) {
        if (error.code == grpc_code::no_such_method) {
          list_period_ = cri_defaults::relist_without_events;
          if (!next_list_) return;
          loop_->cancel(*next_list_);
          return list_all();
        }
        loop_->after(cri_defaults::events_again, [this] { listen(); });
      });
}

void container_watcher::list_later() {
  next_list_ = loop_->after(list_period_, [this] { list_all(); });
}

void container_watcher::list_all() {
  next_list_.reset();
  const auto began = std::chrono::steady_clock::now();
  const auto end = [this, began](const auto& sandboxes) {
    if (sandboxes) check_changed(*sandboxes);
    metrics_of_kubelet().relists.add(std::chrono::steady_clock::now() - began);
    list_later();
  };
  client_->runtime<cri::ListContainersResponse>(
      "ListContainers", cri::ListContainersRequest{}, [this, end](const auto& containers) {
        if (containers) check_changed(*containers);
        client_->runtime<cri::ListPodSandboxResponse>("ListPodSandbox",
                                                      cri::ListPodSandboxRequest{}, end);
      });
}

// One that is not listed may be newer than the list: only its status shows that it is gone.
void container_watcher::check_changed(const cri::ListContainersResponse& listed) {
  std::set<std::string_view> running;
  for (const auto& each : listed.containers())
    if (each.state() == cri::RUNNING) running.insert(each.id());
  for (const auto& [id, each] : containers_)
    if (!each.running || !running.contains(id)) check_container(id);
}

void container_watcher::check_changed(const cri::ListPodSandboxResponse& listed) {
  std::set<std::string_view> ready;
  for (const auto& each : listed.items())
    if (each.state() == cri::SANDBOX_READY) ready.insert(each.id());
  for (const auto& [id, each] : sandboxes_)
    if (!ready.contains(id)) check_container(id);
}

void container_watcher::rotate_logs() {
  for (const auto& [id, each] : containers_) {
    if (!each.running || rotating_.contains(id)) continue;
    const auto ended = [this, id] { loop_->defer([this, id] { rotating_.erase(id); }); };
    const auto rotate = [client = client_, id, log = each.log, limits = log_limits_, ended] {
      if (!rotate_log(log, limits)) return ended();
      cri::ContainerId request;
      request.set_container_id(id);
      client->runtime<cri::Nothing>("ReopenContainerLog", request,
                                    [log, ended](const auto& reopened) {
                                      if (!reopened) undo_rotation(log);
                                      ended();
                                    });
    };
    if (jobs_.post(rotate)) rotating_.insert(id);
  }
}

void container_watcher::rotate_periodically() {
  loop_->after(cri_defaults::log_rotation, [this] {
    rotate_logs();
    rotate_periodically();
  });
}

void container_watcher::follow_container(const std::string& id, container_observer observer) {
  containers_[id] = {.observer = std::move(observer)};
  check_container(id);
}

void container_watcher::follow_sandbox(const std::string& id, sandbox_observer observer) {
  sandboxes_[id] = std::move(observer);
}

void container_watcher::check_container(const std::string& id) {
  if (containers_.contains(id)) {
    cri::ContainerStatusRequest ask;
    ask.set_container_id(id);
    client_->runtime<cri::ContainerStatusResponse>(
        "ContainerStatus", ask, [this, id](const auto& answer) { take(id, answer); });
  } else if (sandboxes_.contains(id)) {
    cri::PodSandboxStatusRequest ask;
    ask.set_pod_sandbox_id(id);
    client_->runtime<cri::PodSandboxStatusResponse>(
        "PodSandboxStatus", ask, [this, id](const auto& answer) { take(id, answer); });
  }
}

// containerd deletes the task of a container that has ended, reports that, and only then changes
// the status, some 50 ms later.
void container_watcher::check_ended(const std::string& id, std::chrono::milliseconds again) {
  if (!containers_.contains(id) && !sandboxes_.contains(id)) return;
  check_container(id);
  if (again <= cri_defaults::ended_last)
    loop_->after(again, [this, id, again] { check_ended(id, again + again / 4); });
}

void container_watcher::take(const std::string& id,
                             const cri_result<cri::ContainerStatusResponse>& answer) {
  const auto found = containers_.find(id);
  if (found == containers_.end()) return;
  if (!answer) {
    // While the runtime is away the state is unknown: retry later.
    if (answer.error().code != grpc_code::not_found) return;
    constexpr int killed = 128 + SIGKILL;
    const auto observer = std::move(found->second.observer);
    containers_.erase(found);
    return observer(container_exit{.code = killed, .finished_ms = now_ms(), .lost = true});
  }
  const auto& status = answer->status();
  if (status.state() == cri::RUNNING && !std::exchange(found->second.running, true))
    found->second.observer(container_running{status.started_at() / ns_of_ms});
  found->second.log = status.log_path();
  if (status.state() == cri::EXITED) return tell_end(id, status);
  if (status.state() == cri::UNKNOWN && !std::exchange(found->second.stopping, true))
    stop_unknown(id);
}

// The runtime has lost track of the container, which may run: its state is known again when it has
// been stopped (kubernetes: kuberuntime_manager.go, computePodActions).
void container_watcher::stop_unknown(const std::string& id) {
  log().warn("kubelet: the state of container {} is unknown: it is killed", id);
  cri::StopContainerRequest request;
  request.set_container_id(id);
  client_->runtime<cri::Nothing>("StopContainer", request, [this, id](const auto&) {
    loop_->after(cri_defaults::ask_again, [this, id] {
      if (const auto found = containers_.find(id); found != containers_.end())
        found->second.stopping = false;
      check_container(id);
    });
  });
}

// A job notifies the observer, because the termination message is read from disk.
void container_watcher::tell_end(const std::string& id, const cri::ContainerStatus& status) {
  const auto found = containers_.extract(id);
  const auto tell = [observer = found.mapped().observer, status] {
    auto exit = exit_of(status);
    exit.message = termination_message(status);
    observer(exit);
  };
  if (jobs_.post(tell)) return;
  log().warn("kubelet: too many jobs wait: the termination message of {} is not read", id);
  found.mapped().observer(exit_of(status));
}

void container_watcher::take(const std::string& id,
                             const cri_result<cri::PodSandboxStatusResponse>& answer) {
  const auto found = sandboxes_.find(id);
  if (found == sandboxes_.end()) return;
  if (answer ? answer->status().state() == cri::SANDBOX_READY
             : answer.error().code != grpc_code::not_found)
    return;
  const auto observer = std::move(found->second);
  sandboxes_.erase(found);
  observer(sandbox_lost{{runtime_error::kind::failed, "the sandbox has gone"}});
}

}  // namespace troupe::actors
