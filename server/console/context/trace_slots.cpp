#include "server/console/context/trace_slots.hpp"

#include <utility>

namespace troupe::server {

std::shared_ptr<trace_slots::slot> trace_slots::enter() {
  std::function<void()> end;
  std::uint64_t id = 0;
  {
    const std::lock_guard lock{mutex_};
    if (holders_.size() >= limit_) {
      auto longest = holders_.end();
      for (auto at = holders_.begin(); at != holders_.end(); ++at)
        if (at->second.end && at->second.stuck_since &&
            (longest == holders_.end() || *at->second.stuck_since < *longest->second.stuck_since))
          longest = at;
      if (longest == holders_.end()) return nullptr;
      end = std::move(longest->second.end);
      holders_.erase(longest);
    }
    id = ++last_;
    holders_.emplace(id, holder{});
  }
  if (end) end();
  return std::make_shared<slot>(shared_from_this(), id);
}

trace_slots::slot::~slot() {
  const std::lock_guard lock{slots_->mutex_};
  slots_->holders_.erase(id_);
}

void trace_slots::slot::on_eviction(std::function<void()> end) {
  const std::lock_guard lock{slots_->mutex_};
  if (const auto found = slots_->holders_.find(id_); found != slots_->holders_.end())
    found->second.end = std::move(end);
}

void trace_slots::slot::stuck_since(std::optional<runtime::time_point> since) {
  const std::lock_guard lock{slots_->mutex_};
  if (const auto found = slots_->holders_.find(id_); found != slots_->holders_.end())
    found->second.stuck_since = since;
}

}  // namespace troupe::server
