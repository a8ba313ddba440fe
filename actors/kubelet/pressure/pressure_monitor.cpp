#include "actors/kubelet/pressure/pressure_monitor.hpp"

#include <fmt/format.h>

#include <string>
#include <utility>

#include "actors/core/log.hpp"
#include "actors/kubelet/pressure/pressure_reader.hpp"
#include "actors/scheduler/framework/resources.hpp"

namespace troupe::actors {

using api::core::v1::Pod;

const runtime::behavior& pressure_monitor::make_behavior() const {
  static const auto table =
      runtime::handlers(&pressure_monitor::on_supplies_read, &pressure_monitor::on_disk_measured);
  return table;
}

void pressure_monitor::started() {
  look();
  rounds_ = every(setup_.period, [this] { look(); });
}

std::string pressure_monitor::describe() const {
  std::string text = fmt::format("memoryLeft: {}\ndiskLeft: {}\npidsLeft: {}\nconditions:\n",
                                 last_.memory.left, last_.disk.left, last_.pids.left);
  for (const auto of : told_)
    text += fmt::format("- {}\n", condition_of(of));
  return text;
}

// A look that a busy queue has not taken is made in the next round.
void pressure_monitor::look() {
  if (looking_) return;
  looking_ =
      setup_.jobs->post([read = setup_.read, to = self()] { to.tell(supplies_read{read()}); });
}

void pressure_monitor::on_supplies_read(const supplies_read& m) {
  looking_ = false;
  last_ = m.supplies;
  const auto passed = passed_thresholds(m.supplies, setup_.thresholds);
  memory_.saw(passed, now());
  told_ = memory_.holding(now());
  tell(setup_.kubelet, pressures_seen{told_});
  if (!passed.empty() && !making_room_) make_room(passed.front());
}

void pressure_monitor::make_room(const passed_threshold& of) {
  making_room_ = true;
  threshold_ = of;
  request<running_pods>(setup_.kubelet, list_running_pods{}, kubelet_defaults::usage_look_limit,
                        [this](auto answer) {
                          if (answer) return measure((*answer)->pods);
                          making_room_ = false;
                        });
}

void pressure_monitor::measure(std::vector<api::object_ptr> pods) {
  candidates_.clear();
  std::vector<std::string> uids;
  for (const auto& each : pods) {
    const auto& pod = each->as<Pod>();
    if (is_critical(pod)) continue;
    const auto requests = scheduler::pod_requests(pod);
    candidates_.push_back(
        {.uid = each->meta().uid(),
         .priority = pod.spec().priority(),
         .requested = threshold_.of == shortage::memory ? requests.memory : requests.ephemeral});
    uids.push_back(each->meta().uid());
  }
  if (candidates_.empty() || threshold_.of == shortage::pids) return evict_first();
  if (threshold_.of == shortage::disk) {
    const bool taken =
        setup_.jobs->post([root = setup_.root_dir, uids = std::move(uids), to = self()] {
          to.tell(disk_measured{pod_bytes(root, uids)});
        });
    if (!taken) making_room_ = false;
    return;
  }
  request<node_usage>(
      setup_.meter, measure_usage{}, kubelet_defaults::usage_look_limit, [this](auto answer) {
        if (answer)
          for (const auto& container : (*answer)->containers)
            for (auto& pod : candidates_)
              if (pod.uid == container.pod_uid)
                pod.used += static_cast<std::int64_t>(container.figure.memory_bytes);
        evict_first();
      });
}

void pressure_monitor::on_disk_measured(const disk_measured& m) {
  for (std::size_t i = 0; i < candidates_.size() && i < m.bytes.size(); ++i)
    candidates_[i].used = m.bytes[i];
  evict_first();
}

void pressure_monitor::evict_first() {
  making_room_ = false;
  if (candidates_.empty()) {
    log().warn("kubelet: the node is low on {} and no pod can be evicted", threshold_.resource);
    return;
  }
  rank_for_eviction(candidates_, threshold_.of);
  log().warn("kubelet: pod {} is evicted: the node is low on {}, {} is left",
             candidates_.front().uid, threshold_.resource, threshold_.available);
  tell(setup_.kubelet, evict_pod{candidates_.front().uid, eviction_failure(threshold_)});
}

}  // namespace troupe::actors
