#include "support/link/loopback.hpp"

#include <array>
#include <deque>
#include <mutex>
#include <optional>
#include <utility>

#include "runtime/link/defaults.hpp"

namespace troupe::test {
namespace {

using namespace runtime::link;

std::size_t cost_of(const std::string& frame) {
  return frame.size() + defaults::frame_overhead_bytes;
}

// Both ends of a loopback with their frames in flight. Receivers are called without the lock;
// `busy` allows one call at a time, so a frame sent from within a call waits until it
// returns.
class pair : public std::enable_shared_from_this<pair> {
 public:
  struct end {
    peer other;
    std::shared_ptr<receiver> target;
    std::deque<std::string> outbox;
    std::optional<std::string> closing;  // set by this end; applies once its outbox is empty
    session_stats stats;
    bool busy = false;
    std::optional<std::string> over;  // the reason of the end
  };

  pair(const peer& one, const peer& other) {
    ends_[0].other = other;
    ends_[1].other = one;
  }

  void open(std::shared_ptr<receiver> at_one, std::shared_ptr<receiver> at_other,
            std::string refusal) {
    {
      std::lock_guard lock{mutex_};
      ends_[0].target = std::move(at_one);
      ends_[1].target = std::move(at_other);
      if (!refusal.empty()) cut_ = std::move(refusal);
      open_ = true;
    }
    run();
  }

  bool send(int side, std::string frame) {
    {
      std::lock_guard lock{mutex_};
      auto& self = ends_[side];
      if (self.over || self.closing || cut_ || frame.size() > defaults::frame_limit_bytes ||
          self.stats.outbox_bytes >= defaults::outbox_limit_bytes)
        return false;
      self.stats.outbox_bytes += cost_of(frame);
      self.outbox.push_back(std::move(frame));
    }
    run();
    return true;
  }

  void close(int side, std::string reason) {
    {
      std::lock_guard lock{mutex_};
      auto& self = ends_[side];
      if (self.over || self.closing) return;
      self.closing = std::move(reason);
    }
    run();
  }

  void cut(const std::string& reason) {
    {
      std::lock_guard lock{mutex_};
      if (!cut_) cut_ = reason;
    }
    run();
  }

  const peer& other(int side) const { return ends_[side].other; }
  session_stats stats(int side) const {
    std::lock_guard lock{mutex_};
    return ends_[side].stats;
  }

 private:
  void run() {
    const auto keep = shared_from_this();
    for (bool any = true; any;) {
      any = pump(0);
      any = pump(1) || any;
    }
  }

  // Delivers pending frames to one end; returns true if there were any.
  bool pump(int side) {
    std::unique_lock lock{mutex_};
    auto& to = ends_[side];
    if ((!open_ && !cut_) || to.busy) return false;
    to.busy = true;
    bool any = false;
    while (step(to, ends_[1 - side], lock))
      any = true;
    to.busy = false;
    return any;
  }

  bool step(end& to, end& from, std::unique_lock<std::mutex>& lock) {
    if (to.over) return false;
    if (auto reason = reason_to_end(to, from)) {
      finish(to, *reason, lock);
      return true;
    }
    if (from.outbox.empty() || to.stats.window_bytes >= defaults::window_limit_bytes) return false;
    auto frame = std::move(from.outbox.front());
    from.outbox.pop_front();
    const auto cost = cost_of(frame);
    from.stats.outbox_bytes -= cost;
    from.stats.frames_sent++;
    from.stats.bytes_sent += frame.size();
    to.stats.window_bytes += cost;
    to.stats.frames_received++;
    to.stats.bytes_received += frame.size();
    const auto target = to.target;
    lock.unlock();
    target->received({std::move(frame), room(to, cost)});
    lock.lock();
    return true;
  }

  std::optional<std::string> reason_to_end(const end& to, const end& from) const {
    if (cut_) return cut_;
    if (from.over) return from.over;
    if (to.closing && to.outbox.empty()) return to.closing;
    return std::nullopt;
  }

  void finish(end& side, std::string reason, std::unique_lock<std::mutex>& lock) {
    side.over = reason;
    side.outbox.clear();
    side.stats.outbox_bytes = 0;
    auto target = std::exchange(side.target, nullptr);
    lock.unlock();
    if (target) target->ended(reason);
    target.reset();  // releases the room of kept deliveries, under the lock
    lock.lock();
  }

  std::shared_ptr<void> room(end& of, std::size_t cost) {
    return {nullptr, [self = shared_from_this(), &of, cost](void*) {
              {
                std::lock_guard lock{self->mutex_};
                of.stats.window_bytes -= cost;
              }
              self->run();
            }};
  }

  mutable std::mutex mutex_;
  std::array<end, 2> ends_;
  std::optional<std::string> cut_;
  bool open_ = false;
};

class loopback_session final : public session {
 public:
  loopback_session(std::shared_ptr<pair> of, int side) : pair_{std::move(of)}, side_{side} {}

  bool send(std::string frame) override { return pair_->send(side_, std::move(frame)); }
  void close(std::string reason) override { pair_->close(side_, std::move(reason)); }
  const peer& other() const override { return pair_->other(side_); }
  session_stats stats() const override { return pair_->stats(side_); }

 private:
  const std::shared_ptr<pair> pair_;
  const int side_;
};

}  // namespace

loopback make_loopback(const peer& one, const acceptor& at_one, const peer& other,
                       const acceptor& at_other) {
  const auto both = std::make_shared<pair>(one, other);
  loopback made{std::make_shared<loopback_session>(both, 0),
                std::make_shared<loopback_session>(both, 1),
                [both] { both->cut("the connection was lost"); }};
  auto called = at_other(made.other);
  if (!called) {
    both->cut(called.error());
    return made;
  }
  auto calling = at_one(made.one);
  both->open(calling.value_or(nullptr), std::move(*called), calling ? "" : calling.error());
  return made;
}

}  // namespace troupe::test
