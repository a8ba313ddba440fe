#include "actors/kubelet/os/job_queue.hpp"

#include <spdlog/spdlog.h>

#include <exception>
#include <utility>

namespace troupe::actors {

bool job_queue::post(const std::string& key, std::function<void()> job) {
  const std::lock_guard lock{mutex_};
  if (waiting_ >= limit_) return false;
  const auto [found, first] = jobs_.try_emplace(key);
  found->second.push_back(std::move(job));
  ++waiting_;
  if (!first || pool_.post([this, key] { run(key); })) return true;
  jobs_.erase(found);
  --waiting_;
  return false;
}

void job_queue::run(const std::string& key) {
  for (;;) {
    std::function<void()> job;
    {
      const std::lock_guard lock{mutex_};
      const auto found = jobs_.find(key);
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
      spdlog::error("kubelet: a job of pod {} threw: {}", key, e.what());
    }
  }
}

}  // namespace troupe::actors
