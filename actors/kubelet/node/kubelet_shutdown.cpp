// The part of the kubelet that ends pods at a machine's shutdown, by priority, each with a timeout.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "actors/core/log.hpp"
#include "actors/kubelet/node/kubelet.hpp"

namespace troupe::actors {

using api::core::v1::Pod;

void kubelet::on_shut_down(const shut_down&, runtime::promise<pods_shut_down> answer) {
  shutdown_requests_.push_back(std::move(answer));
  const bool first = !std::exchange(shutting_down_, true);
  if (!synced_) return;  // the pods of this node are not known yet
  if (first) return begin_shutdown();
  if (shutdown_steps_.empty()) answer_shut_down();
}

void kubelet::begin_shutdown() {
  std::vector<api::object_ptr> pods;
  for (const auto& [uid, pod] : pods_)
    if (pod.worker && pod.object && !pod.gone) pods.push_back(pod.object);
  shutdown_steps_ = plan_shutdown(pods, options_.shutdown);
  log().info("kubelet: the machine shuts down: its pods end in {} steps", shutdown_steps_.size());
  refresh_node();
  begin_shutdown_step();
}

void kubelet::begin_shutdown_step() {
  if (shutdown_steps_.empty()) return answer_shut_down();
  const auto& step = shutdown_steps_.front();
  for (const auto& each : step.pods)
    if (const auto found = pods_.find(each->meta().uid()); found != pods_.end())
      shut_down_in_step(found->second);
  step_end_ = after(step.time, [this] { end_shutdown_step("timed out"); });
  check_shutdown();
}

// Also after a crash of the worker, which has forgotten why its pod ends.
void kubelet::shut_down_in_step(const known_pod& pod) {
  if (shutdown_steps_.empty() || !pod.object) return;
  const auto& uid = pod.object->meta().uid();
  const auto& step = shutdown_steps_.front();
  for (const auto& each : step.pods)
    if (each->meta().uid() == uid)
      tell(pod.worker, evict_pod{uid, shutdown_failure(each->as<Pod>(), step.time)});
}

void kubelet::end_shutdown_step(const char* reason) {
  log().info("kubelet: a step of the shutdown {}, {} remain", reason, shutdown_steps_.size() - 1);
  shutdown_steps_.pop_front();
  begin_shutdown_step();
}

void kubelet::check_shutdown() {
  if (shutdown_steps_.empty()) return;
  const auto& pods = shutdown_steps_.front().pods;
  const bool ended = std::all_of(pods.begin(), pods.end(), [this](const auto& each) {
    const auto found = pods_.find(each->meta().uid());
    return found == pods_.end() || found->second.gone || !found->second.object ||
           finished(found->second.object->template as<Pod>().status());
  });
  if (ended) end_shutdown_step("is done");
}

void kubelet::answer_shut_down() {
  step_end_.cancel();
  for (auto& asked : std::exchange(shutdown_requests_, {}))
    asked.deliver({});
}

}  // namespace troupe::actors
