#include "actors/kubelet/pod_worker.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "actors/kubelet/defaults.hpp"
#include "actors/log.hpp"
#include "api/schema/meta_object.pb.h"

namespace troupe::actors {

using api::core::v1::Container;
using api::core::v1::Pod;

std::filesystem::path log_path(const std::filesystem::path& root_dir, const std::string& pod_uid,
                               const std::string& container, int attempt) {
  return root_dir / "pods" / pod_uid / "logs" / container / (std::to_string(attempt) + ".log");
}

pod_worker::pod_worker(std::string key, std::string uid, const kubelet_surroundings* around)
    : key_{std::move(key)}, uid_{std::move(uid)}, around_{around} {}

const runtime::behavior& pod_worker::make_behavior() const {
  static const runtime::behavior table =
      runtime::handlers(&pod_worker::on_own_change, &pod_worker::on_surveyed,
                        &pod_worker::on_container_news, &pod_worker::on_torn_down);
  return table;
}

void pod_worker::started() {
  object_ = around_->read(key_);
  if (object_ && object_->meta().uid() != uid_) object_ = nullptr;
  gone_ = !object_;
  around_->containers->survey(pod_dir(), [to = self()](std::vector<process_runtime::found> all) {
    to.tell(surveyed{std::move(all)});
  });
}

std::string pod_worker::describe() const {
  std::string text =
      fmt::format("pod: {}\nuid: {}\nterminating: {}\ncontainers:\n", key_, uid_, terminating());
  static constexpr const char* phases[] = {"waiting", "starting", "running", "exited"};
  for (const auto& c : containers_)
    text += fmt::format("- name: {}\n  phase: {}\n  restarts: {}\n", c.name,
                        phases[static_cast<int>(c.phase)], c.attempt);
  return text;
}

// -- messages -------------------------------------------------------------------------------------

void pod_worker::on_own_change(const own_change& m) {
  if (m.gone) {
    gone_ = true;
  } else if (!object_ || m.object->revision() > object_->revision()) {
    object_ = m.object;
  }
  removing_ = false;
  sync();
}

void pod_worker::on_surveyed(const surveyed& m) {
  surveyed_ = true;
  if (object_) {
    for (const auto& container : pod().spec().init_containers())
      containers_.push_back({.name = container.name(), .init = true});
    for (const auto& container : pod().spec().containers())
      containers_.push_back({.name = container.name(),
                             .ready = !container.has_readiness_probe(),
                             .started = !container.has_startup_probe()});
  }
  for (const auto& found : m.found) {
    auto& record = record_of(found.container);
    record.attempt = found.attempt;
    record.phase = container_phase::starting;
    around_->containers->follow(found.dir, observer(found.container, found.attempt));
  }
  sync();
}

void pod_worker::on_container_news(const container_news& m) {
  auto& record = record_of(m.container);
  if (record.attempt != m.attempt) return;  // of an attempt that is over
  if (const auto* running = std::get_if<container_running>(&m.change)) {
    record.phase = container_phase::running;
    record.run = *running;
    record_pod_event(false, "Started", "Started container " + m.container, m.container);
    if (terminating()) told_to_end_ = false;
    return sync();
  }
  const auto& exit = std::get<container_exit>(m.change);
  const auto lasted = std::chrono::milliseconds{exit.finished_ms - exit.started_ms};
  record.phase = container_phase::exited;
  record.last = exit;
  if (!exit.error.empty()) record_pod_event(true, "Failed", "Error: " + exit.error, m.container);
  if (lasted >= kubelet_defaults::restart_forgotten) record.backoff = runtime::duration{0};
  if (!terminating() && restarts(pod(), record)) {
    // The first restart comes at once; from then on each waits longer.
    record.retry_at = now() + record.backoff;
    record.backoff = std::clamp<runtime::duration>(
        record.backoff * 2, kubelet_defaults::restart_first, kubelet_defaults::restart_longest);
  }
  sync();
}

void pod_worker::on_torn_down(const torn_down&) {
  torn_down_ = true;
  sync();
}

// -- one sync -------------------------------------------------------------------------------------

bool pod_worker::terminating() const {
  return gone_ || !object_ || object_->meta().has_deletion_timestamp();
}

bool pod_worker::all_ended() const {
  return std::none_of(containers_.begin(), containers_.end(), [](const auto& c) {
    return c.phase == container_phase::starting || c.phase == container_phase::running;
  });
}

void pod_worker::sync() {
  if (!surveyed_) return;
  if (!terminating()) {
    run_containers();
    report();
    return arm_timer();
  }
  if (!all_ended()) return end_containers();
  if (!torn_down_) {
    around_->containers->run([dir = pod_dir(), to = self()] {
      // Renamed first: what cannot be removed at once is an orphan, not half a pod.
      const auto trash = dir.string() + ".deleting";
      std::error_code problem;
      std::filesystem::rename(dir, trash, problem);
      std::filesystem::remove_all(trash, problem);
      to.tell(torn_down{});
    });
    return;
  }
  if (gone_) return stop();
  remove_pod();
}

void pod_worker::run_containers() {
  const auto phase = pod().status().phase();
  if (phase == "Succeeded" || phase == "Failed") return;
  for (auto& record : containers_) {
    if (record.phase == container_phase::exited && restarts(pod(), record)) {
      record.phase = container_phase::waiting;
      ++record.attempt;
      if (record.retry_at > now()) {
        record.waiting_reason = "CrashLoopBackOff";
        const auto wait = std::chrono::ceil<std::chrono::seconds>(record.retry_at - now());
        record.waiting_message =
            fmt::format("back-off {}s restarting failed container={} pod={}_{}({})", wait.count(),
                        record.name, pod().metadata().name(), pod().metadata().namespace_(), uid_);
        record_pod_event(true, "BackOff", "Back-off restarting failed container " + record.name,
                         record.name);
      }
    }
    if (record.phase == container_phase::waiting && record.retry_at <= now()) start(record);
    // Init containers run one after the other, and all before the others.
    if (record.init && !record.succeeded()) return;
  }
}

void pod_worker::start(container_record& record) {
  const auto& all = record.init ? pod().spec().init_containers() : pod().spec().containers();
  const auto container = std::find_if(all.begin(), all.end(),
                                      [&](const Container& c) { return c.name() == record.name; });
  if (container == all.end()) return;
  const auto refuse = [&](const char* reason, std::string message) {
    if (record.waiting_reason != reason) record_pod_event(true, "Failed", message, record.name);
    record.waiting_reason = reason;
    record.waiting_message = std::move(message);
    record.retry_at = now() + kubelet_defaults::restart_first;
  };
  auto environment = container_environment(pod(), *container, around_->read);
  if (!environment) return refuse("CreateContainerConfigError", std::move(environment.error()));
  container_spec spec{.command = container_command(*container, *environment),
                      .environment = std::move(*environment),
                      .working_dir = container->working_dir(),
                      .log_file = log_path(around_->root_dir, uid_, record.name, record.attempt)};
  if (container->command().empty())
    return refuse("ImageRuntimeRequired",
                  fmt::format("container \"{}\" has no command: the process runtime runs programs "
                              "of this machine and cannot run image \"{}\"; set command, or use "
                              "an image runtime",
                              record.name, container->image()));
  record.waiting_reason.clear();
  record.waiting_message.clear();
  record.phase = container_phase::starting;
  std::error_code problem;
  std::filesystem::create_directories(std::filesystem::path{spec.log_file}.parent_path(), problem);
  around_->containers->start(dir_of(record), std::move(spec),
                             observer(record.name, record.attempt));
}

// SIGTERM once, SIGKILL when the grace period is over: the deletionTimestamp is that moment.
void pod_worker::end_containers() {
  const bool at_once = gone_ || !object_;
  auto left = runtime::duration{0};
  if (!at_once) {
    const auto deadline = std::chrono::seconds{object_->meta().deletion_timestamp().seconds()};
    left = std::max<runtime::duration>(deadline - wall_now().time_since_epoch(), left);
    if (object_->meta().deletion_grace_period_seconds() == 0) left = runtime::duration{0};
  }
  const bool kill = left.count() == 0;
  if (told_to_end_ && !kill) return;
  told_to_end_ = true;
  for (const auto& record : containers_)
    if (record.phase == container_phase::running) {
      around_->containers->stop(dir_of(record), kill);
      if (!kill)
        record_pod_event(false, "Killing", "Stopping container " + record.name, record.name);
    }
  kill_timer_ = after(kill ? kubelet_defaults::status_retry : left, [this] { sync(); });
}

void pod_worker::arm_timer() {
  auto soonest = now() + kubelet_defaults::pod_resync;
  for (const auto& record : containers_)
    if (record.phase == container_phase::waiting && record.retry_at > now())
      soonest = std::min<runtime::time_point>(soonest, record.retry_at);
  next_ = after(soonest - now(), [this] { sync(); });
}

// -- telling --------------------------------------------------------------------------------------

void pod_worker::report() {
  auto status = observed_status(pod(), containers_, around_->place, wall_now());
  if (status.SerializeAsString() == pod().status().SerializeAsString()) return;
  auto changed = object_->copy_as<Pod>();
  *changed->mutable_status() = std::move(status);
  auto what = std::make_shared<persistence::transaction>();
  what->preconditions.push_back({key_, object_->revision()});
  what->mutations.push_back({key_, &object_->kind(), std::move(changed)});
  what->why = cause_of_write();
  request<commit_done>(around_->to.writer, commit{std::move(what)}, kubelet_defaults::write_timeout,
                       [this](const auto& answered) {
                         if (answered && (*answered)->result) {
                           const auto& written = (*answered)->result->objects.front();
                           if (object_ && written->revision() > object_->revision())
                             object_ = written;
                           return;
                         }
                         // A newer state is on its way, or the writer is busy.
                         retry_ = after(kubelet_defaults::status_retry, [this] { sync(); });
                       });
}

void pod_worker::remove_pod() {
  if (removing_) return;
  removing_ = true;
  auto what = std::make_shared<persistence::transaction>();
  what->preconditions.push_back({key_, object_->revision()});
  what->mutations.push_back({key_, &object_->kind(), nullptr});
  what->why = cause_of_write();
  request<commit_done>(around_->to.writer, commit{std::move(what)}, kubelet_defaults::write_timeout,
                       [this](const auto& answered) {
                         if (answered && (*answered)->result) return stop();
                         retry_ = after(kubelet_defaults::status_retry, [this] {
                           removing_ = false;
                           if (const auto newest = around_->read(key_);
                               newest && newest->meta().uid() == uid_) {
                             object_ = newest;
                           } else {
                             gone_ = true;
                           }
                           sync();
                         });
                       });
}

void pod_worker::record_pod_event(bool warning, std::string reason, std::string message,
                                  const std::string& container) {
  if (!object_) return;
  tell(around_->to.recorder,
       record_event{.about = object_,
                    .warning = warning,
                    .reason = std::move(reason),
                    .message = std::move(message),
                    .component = "kubelet",
                    .field_path = fmt::format("spec.containers{{{}}}", container),
                    .host = around_->node});
}

persistence::change_cause pod_worker::cause_of_write() const {
  return {.request = why().request,
          .trigger = object_->revision(),
          .author = "kubelet/" + around_->node};
}

container_record& pod_worker::record_of(const std::string& container) {
  const auto found = std::find_if(containers_.begin(), containers_.end(),
                                  [&](const auto& c) { return c.name == container; });
  if (found != containers_.end()) return *found;
  return containers_.emplace_back(container_record{.name = container});
}

std::filesystem::path pod_worker::pod_dir() const {
  return around_->root_dir / "pods" / uid_;
}

container_dir pod_worker::dir_of(const container_record& record) const {
  return container_dir{pod_dir() / "containers" / record.name / std::to_string(record.attempt)};
}

container_observer pod_worker::observer(const std::string& container, int attempt) {
  return [to = self(), container, attempt](const container_change& change) {
    to.tell(container_news{container, attempt, change});
  };
}

}  // namespace troupe::actors
