#include "persistence/tree/pins.hpp"

#include <algorithm>
#include <vector>

#include "persistence/defaults.hpp"

namespace troupe::persistence {

void pin_set::pin(const snapshot& state, time_point now) {
  std::optional<snapshot> dropped;  // freed outside the lock: it may be large
  std::lock_guard lock{mutex_};
  pins_.insert_or_assign(state.at(), pinned{state, now + defaults::pin_time});
  if (pins_.size() <= defaults::pin_limit) return;
  const auto oldest = std::min_element(
      pins_.begin(), pins_.end(),
      [](const auto& a, const auto& b) { return a.second.until < b.second.until; });
  dropped = std::move(oldest->second.state);
  pins_.erase(oldest);
}

std::optional<snapshot> pin_set::find(revision at, time_point now) const {
  std::lock_guard lock{mutex_};
  const auto found = pins_.find(at);
  if (found == pins_.end() || found->second.until < now) return std::nullopt;
  return found->second.state;
}

void pin_set::expire(time_point now) {
  std::vector<snapshot> dropped;  // freed outside the lock
  std::lock_guard lock{mutex_};
  for (auto at = pins_.begin(); at != pins_.end();) {
    if (at->second.until >= now) {
      ++at;
      continue;
    }
    dropped.push_back(std::move(at->second.state));
    at = pins_.erase(at);
  }
}

}  // namespace troupe::persistence
