#include "actors/kubelet/pressure/pressure_monitor.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>

#include "actors/core/log.hpp"
#include "actors/core/metrics.hpp"
#include "actors/kubelet/pressure/pressure_reader.hpp"
#include "actors/scheduler/framework/resources.hpp"

namespace troupe::actors {

using api::core::v1::Pod;

const runtime::behavior& pressure_monitor::make_behavior() const {
  static const auto table =
      runtime::handlers(&pressure_monitor::on_supplies_read, &pressure_monitor::on_disk_freed,
                        &pressure_monitor::on_pods_measured);
  return table;
}

void pressure_monitor::started() {
  check();
  rounds_ = every(setup_.period, [this] { check(); });
}

std::string pressure_monitor::describe() const {
  std::string text = fmt::format("memoryLeft: {}\ndiskLeft: {}\npidsLeft: {}\nconditions:\n",
                                 last_.memory.left, last_.disk.left, last_.pids.left);
  for (const auto of : told_)
    text += fmt::format("- {}\n", condition_of(of));
  return text;
}

// If the job queue is full, the next round tries again.
void pressure_monitor::check() {
  if (looking_) return;
  looking_ =
      setup_.jobs->post([read = setup_.read, to = self()] { to.tell(supplies_read{read()}); });
}

void pressure_monitor::on_supplies_read(const supplies_read& m) {
  looking_ = false;
  if (std::exchange(read_again_, false)) return check();
  last_ = m.supplies;
  const auto passed = passed_thresholds(m.supplies, setup_.thresholds);
  memory_.observe(passed, now());
  auto holding = memory_.holding(now());
  log_changes(passed, holding);
  told_ = std::move(holding);
  tell(setup_.kubelet, pressures_seen{told_});
  const auto due = std::find_if(passed.begin(), passed.end(), [this](const auto& each) {
    return memory_.demands_eviction(each, setup_.thresholds.soft_grace, now());
  });
  if (due == passed.end()) {
    disk_freed_ = false;
    return last_choice_.reset();
  }
  if (making_room_) return;
  if (due->of == shortage::disk && !std::exchange(disk_freed_, true)) return free_disk(due->disk);
  disk_freed_ = false;
  make_room(*due);
}

// kubernetes: eviction_manager.go, reclaimNodeLevelResources.
void pressure_monitor::free_disk(node_disk of) {
  making_room_ = true;
  freeing_ = std::make_shared<const freeing>();
  freeing_limit_ = after(kubelet_defaults::free_disk_limit, [this] { end_freeing(); });
  setup_.free_disk(of, [to = self(), request = freeing_] { to.tell(disk_freed{request}); });
}

void pressure_monitor::on_disk_freed(const disk_freed& m) {
  if (m.request == freeing_) end_freeing();
}

void pressure_monitor::end_freeing() {
  freeing_.reset();
  freeing_limit_.cancel();
  making_room_ = false;
  read_again_ = looking_;
  check();
}

void pressure_monitor::log_changes(const std::vector<passed_threshold>& passed,
                                   const std::set<shortage>& holding) const {
  for (const auto& each : passed)
    if (!told_.contains(each.of))
      log().warn(
          "kubelet: {} begins: available {} {}, threshold {}{}: new pods are rejected and pods are "
          "evicted{}; it lasts until {} after the threshold was last passed",
          condition_of(each.of), each.resource, each.available, each.quantity,
          each.of != shortage::disk ? std::string{}
          : each.disk == node_disk::images
              ? " on the disk of images"
              : fmt::format(" on the disk of {}", setup_.root_dir.string()),
          each.soft ? fmt::format(" after {}", std::chrono::duration_cast<std::chrono::seconds>(
                                                   setup_.thresholds.soft_grace))
                    : std::string{},
          std::chrono::duration_cast<std::chrono::minutes>(kubelet_defaults::pressure_transition));
  for (const auto of : told_)
    if (!holding.contains(of)) log().info("kubelet: {} ends", condition_of(of));
}

void pressure_monitor::make_room(const passed_threshold& of) {
  making_room_ = true;
  threshold_ = of;
  request<running_pods>(setup_.kubelet, list_running_pods{}, kubelet_defaults::usage_check_limit,
                        [this](auto answer) {
                          if (answer) return measure((*answer)->pods);
                          making_room_ = false;
                        });
}

void pressure_monitor::measure(std::vector<api::object_ptr> pods) {
  std::erase_if(pods, [](const auto& each) { return is_critical(each->template as<Pod>()); });
  candidates_.clear();
  std::vector<std::string> uids;
  for (const auto& each : pods) {
    const auto& pod = each->as<Pod>();
    const auto requests = scheduler::pod_requests(pod);
    candidates_.push_back({.uid = each->meta().uid(),
                           .priority = pod.spec().priority(),
                           .requested = threshold_.of == shortage::memory ? requests.memory
                                        : threshold_.of == shortage::pids || lacks_inodes()
                                            ? 0  // nobody requests them
                                            : requests.ephemeral,
                           .name = each->meta().namespace_() + '/' + each->meta().name(),
                           .grace = grace_of(pod.spec().termination_grace_period_seconds())});
    uids.push_back(each->meta().uid());
  }
  if (candidates_.empty()) return evict_first();
  if (threshold_.of == shortage::pids)
    return setup_.containers->count_processes(std::move(pods),
                                              [to = self()](std::vector<std::int64_t> processes) {
                                                to.tell(pods_measured{std::move(processes)});
                                              });
  if (threshold_.of == shortage::disk) return measure_disk(std::move(uids));
  request<node_usage>(
      setup_.meter, measure_usage{}, kubelet_defaults::usage_check_limit, [this](auto answer) {
        if (answer)
          for (const auto& container : (*answer)->containers)
            for (auto& pod : candidates_)
              if (pod.uid == container.pod_uid)
                pod.used += static_cast<std::int64_t>(container.figure.memory_bytes);
        evict_first();
      });
}

void pressure_monitor::measure_disk(std::vector<std::string> uids) {
  setup_.containers->read_layers(
      {}, [jobs = setup_.jobs, root = setup_.root_dir, uids = std::move(uids), of = threshold_.disk,
           inodes = lacks_inodes(), to = self()](const std::vector<layer_usage>& layers) {
        const bool taken = jobs->post([root, uids, layers, of, inodes, to] {
          std::vector<std::int64_t> used;
          for (const auto& each : usage_of_pods(of, root, uids, layers))
            used.push_back(inodes ? each.files : each.bytes);
          to.tell(pods_measured{std::move(used)});
        });
        if (!taken) to.tell(pods_measured{});
      });
}

// Without a measurement nobody is evicted: the next round measures again.
void pressure_monitor::on_pods_measured(const pods_measured& m) {
  if (m.used.size() != candidates_.size()) {
    making_room_ = false;
    return;
  }
  for (std::size_t i = 0; i < candidates_.size(); ++i)
    candidates_[i].used = m.used[i];
  evict_first();
}

void pressure_monitor::evict_first() {
  making_room_ = false;
  rank_for_eviction(candidates_, threshold_.of);
  const auto chosen = candidates_.empty() ? std::string{} : candidates_.front().uid;
  // Choosing the same pod again means that it is still terminating.
  const bool is_new = std::exchange(last_choice_, chosen) != chosen;
  if (candidates_.empty()) {
    if (is_new)
      log().warn(
          "kubelet: the node is low on {} (available {}, threshold {}), and no pod can be "
          "evicted",
          threshold_.resource, threshold_.available, threshold_.quantity);
    return;
  }
  if (is_new) {
    metrics_of_kubelet().count_eviction(signal_of(threshold_));
    log().warn("kubelet: pod {} is evicted: the node is low on {} (available {}, threshold {})",
               candidates_.front().name, threshold_.resource, threshold_.available,
               threshold_.quantity);
  }
  const auto grace = std::min(candidates_.front().grace, setup_.thresholds.longest_grace);
  tell(setup_.kubelet, evict_pod{chosen, eviction_failure(threshold_, grace)});
}

}  // namespace troupe::actors
