#include "persistence/replica/leased_log.hpp"

#include <algorithm>
#include <mutex>
#include <utility>
#include <vector>

#include "api/schema/core_event.pb.h"
#include "api/scheme.hpp"
#include "persistence/replica/defaults.hpp"

namespace troupe::persistence {

lease_rule events_with_leases(std::chrono::nanoseconds time_to_live) {
  return {std::string{api::kind_of<api::core::v1::Event>().prefix()},
          std::chrono::duration_cast<std::chrono::seconds>(time_to_live)};
}

// -- which lease ----------------------------------------------------------------------------------

std::chrono::seconds shared_lease::asked_time() const {
  return time_to_live_ + std::min<std::chrono::seconds>(defaults::lease_share_limit,
                                                        time_to_live_ / defaults::lease_share_part);
}

void shared_lease::begin(lease_id lease, time_point asked) {
  lease_ = lease;
  until_ = asked + (asked_time() - time_to_live_);
  objects_ = 0;
}

std::optional<lease_id> shared_lease::take(std::size_t objects, time_point now) {
  // A new lease always takes at least one request, even if its time to share is already over.
  const bool is_over = objects_ != 0 && now > until_;
  if (lease_ == 0 || is_over || objects_ + objects > defaults::lease_objects) return std::nullopt;
  objects_ += objects;
  return lease_;
}

void shared_lease::forget(lease_id lease) {
  if (lease_ == lease) lease_ = 0;
}

// -- transactions ---------------------------------------------------------------------------------

class leased_log::sender : public std::enable_shared_from_this<sender> {
 public:
  sender(shared_log& log, lease_rule rule)
      : log_{log}, rule_{std::move(rule)}, lease_{rule_.time_to_live} {}

  void submit(log_transaction request, std::function<void(log_answer)> done) {
    std::size_t objects = 0;
    for (const auto& each : request.writes)
      objects += has_lease(each) ? 1 : 0;
    if (objects == 0) return log_.submit(std::move(request), std::move(done));
    send({std::move(request), objects, 0, std::move(done)});
  }

 private:
  struct waiting {
    log_transaction request;
    std::size_t objects = 0;
    int attempts = 0;
    std::function<void(log_answer)> done;
  };

  bool has_lease(const log_write& write) const {
    return write.value && write.key.starts_with(rule_.prefix);
  }
  void send(waiting next);
  void on_answer(waiting next, lease_id lease, const log_answer& told);
  void ask();
  void on_granted(const expected<lease_id>& given, shared_lease::time_point asked);

  shared_log& log_;
  const lease_rule rule_;
  std::mutex mutex_;
  shared_lease lease_;
  // Transactions that wait for a new lease. The caller of submit() bounds their number.
  std::vector<waiting> waiting_;
};

void leased_log::sender::send(waiting next) {
  std::optional<lease_id> lease;
  {
    const std::lock_guard lock{mutex_};
    if (waiting_.empty()) lease = lease_.take(next.objects, std::chrono::steady_clock::now());
    if (!lease) {
      waiting_.push_back(std::move(next));
      if (waiting_.size() > 1) return;  // a lease was requested already
    }
  }
  if (!lease) return ask();
  for (auto& each : next.request.writes)
    if (has_lease(each)) each.lease = *lease;
  auto request = next.request;
  log_.submit(std::move(request), [self = shared_from_this(), lease = *lease,
                                   next = std::move(next)](const log_answer& told) mutable {
    self->on_answer(std::move(next), lease, told);
  });
}

void leased_log::sender::on_answer(waiting next, lease_id lease, const log_answer& told) {
  if (!told.lease_ended || ++next.attempts == defaults::lease_attempts) return next.done(told);
  {
    const std::lock_guard lock{mutex_};
    lease_.forget(lease);
  }
  send(std::move(next));
}

void leased_log::sender::ask() {
  log_.grant(lease_.asked_time(),
             [self = shared_from_this(), asked = std::chrono::steady_clock::now()](
                 const expected<lease_id>& given) { self->on_granted(given, asked); });
}

void leased_log::sender::on_granted(const expected<lease_id>& given,
                                    shared_lease::time_point asked) {
  std::vector<waiting> all;
  {
    const std::lock_guard lock{mutex_};
    if (given) lease_.begin(*given, asked);
    all.swap(waiting_);
  }
  for (auto& each : all) {
    if (given) {
      send(std::move(each));
      continue;
    }
    log_answer refused{log_answer::outcome::refused};
    refused.reason = given.error();
    // The outcome is not unknown: no transaction was sent.
    if (refused.reason.code == errc::unknown) refused.reason.code = errc::read_only;
    each.done(refused);
  }
}

leased_log::leased_log(std::unique_ptr<shared_log> inner, lease_rule rule)
    : forwarding_log{std::move(inner)}, sender_{std::make_shared<sender>(log(), std::move(rule))} {}

leased_log::leased_log(shared_log& inner, lease_rule rule)
    : forwarding_log{inner}, sender_{std::make_shared<sender>(log(), std::move(rule))} {}

leased_log::~leased_log() {
  end();
}

void leased_log::submit(log_transaction request, std::function<void(log_answer)> done) {
  sender_->submit(std::move(request), std::move(done));
}

}  // namespace troupe::persistence
