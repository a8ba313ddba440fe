// Keeps barriers in order with reviews: a barrier goes to the store once all earlier submissions
// have reached the store's queue or were rejected. Thread safe.
#pragma once

#include <cstdint>
#include <functional>
#include <mutex>
#include <set>
#include <utility>
#include <vector>

namespace troupe::actors {

class review_order {
 public:
  std::uint64_t begin() {
    const std::lock_guard lock{mutex_};
    open_.insert(++last_);
    return last_;
  }

  void end(std::uint64_t id) {
    std::vector<std::function<void()>> ready;
    {
      const std::lock_guard lock{mutex_};
      open_.erase(id);
      for (auto at = waiting_.begin(); at != waiting_.end();) {
        if (!open_.empty() && *open_.begin() <= at->first) {
          ++at;
          continue;
        }
        ready.push_back(std::move(at->second));
        at = waiting_.erase(at);
      }
    }
    for (const auto& each : ready)
      each();
  }

  // Runs at once if no review is in progress.
  void after_pending(std::function<void()> run) {
    {
      const std::lock_guard lock{mutex_};
      if (!open_.empty()) return waiting_.emplace_back(last_, std::move(run)), void();
    }
    run();
  }

 private:
  std::mutex mutex_;
  std::set<std::uint64_t> open_;
  std::vector<std::pair<std::uint64_t, std::function<void()>>> waiting_;
  std::uint64_t last_ = 0;
};

}  // namespace troupe::actors
