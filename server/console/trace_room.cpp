#include "server/console/trace_room.hpp"

#include <utility>

namespace troupe::server {

std::shared_ptr<trace_room::place> trace_room::enter() {
  std::function<void()> end;
  std::uint64_t id = 0;
  {
    const std::lock_guard lock{mutex_};
    if (guests_.size() >= limit_) {
      auto longest = guests_.end();
      for (auto at = guests_.begin(); at != guests_.end(); ++at)
        if (at->second.end && at->second.stuck_since &&
            (longest == guests_.end() || *at->second.stuck_since < *longest->second.stuck_since))
          longest = at;
      if (longest == guests_.end()) return nullptr;
      end = std::move(longest->second.end);
      guests_.erase(longest);
    }
    id = ++last_;
    guests_.emplace(id, guest{});
  }
  if (end) end();
  return std::make_shared<place>(shared_from_this(), id);
}

trace_room::place::~place() {
  const std::lock_guard lock{room_->mutex_};
  room_->guests_.erase(id_);
}

void trace_room::place::on_eviction(std::function<void()> end) {
  const std::lock_guard lock{room_->mutex_};
  if (const auto found = room_->guests_.find(id_); found != room_->guests_.end())
    found->second.end = std::move(end);
}

void trace_room::place::stuck_since(std::optional<runtime::time_point> since) {
  const std::lock_guard lock{room_->mutex_};
  if (const auto found = room_->guests_.find(id_); found != room_->guests_.end())
    found->second.stuck_since = since;
}

}  // namespace troupe::server
