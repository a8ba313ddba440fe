#include "persistence/tree/pins.hpp"

#include <algorithm>
#include <vector>

#include "persistence/defaults.hpp"

namespace troupe::persistence {

void pin_set::keep(const snapshot& state, time_point now, bool rebuilt) {
  std::optional<snapshot> dropped;  // freed outside the lock: it may be large
  std::lock_guard lock{mutex_};
  auto& kept = pins_.try_emplace(state.at(), pinned{state, now, rebuilt}).first->second;
  kept.until = now + defaults::pin_time;
  const auto count = std::count_if(pins_.begin(), pins_.end(),
                                   [](const auto& each) { return each.second.rebuilt; });
  const bool too_many_rebuilt = count > static_cast<std::ptrdiff_t>(defaults::rebuilt_limit);
  if (!too_many_rebuilt && pins_.size() <= defaults::pin_limit) return;
  auto oldest = pins_.end();
  for (auto each = pins_.begin(); each != pins_.end(); ++each)
    if ((each->second.rebuilt || !too_many_rebuilt) &&
        (oldest == pins_.end() || each->second.until < oldest->second.until))
      oldest = each;
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
