#include "actors/kubelet/process/pod_job_queue.hpp"

#include <spdlog/spdlog.h>

#include <exception>
#include <utility>

namespace troupe::actors {

bool pod_job_queue::post(const std::string& pod, std::function<void()> job) {
  const std::lock_guard lock{mutex_};
  if (waiting_ >= limit_) return false;
  const auto [found, first] = jobs_.try_emplace(pod);
  found->second.push_back(std::move(job));
  ++waiting_;
  if (!first || pool_.post([this, pod] { run(pod); })) return true;
  jobs_.erase(found);
  --waiting_;
  return false;
}

void pod_job_queue::run(const std::string& pod) {
  for (;;) {
    std::function<void()> job;
    {
      const std::lock_guard lock{mutex_};
      const auto found = jobs_.find(pod);
      if (found->second.empty()) {
        jobs_.erase(found);
        return;
      }
      job = std::move(found->second.front());
      found->second.pop_front();
      --waiting_;
    }
    try {
      job();
    } catch (const std::exception& e) {
      spdlog::error("kubelet: a job of pod {} threw: {}", pod, e.what());
    }
  }
}

}  // namespace troupe::actors
