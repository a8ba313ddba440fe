#include "persistence/replica/election.hpp"

#include <spdlog/spdlog.h>

#include <utility>

#include "persistence/replica/defaults.hpp"

namespace troupe::persistence {

election::election(shared_log& log, std::string name, std::chrono::seconds time_to_live,
                   std::function<void(revision fence)> changed)
    : log_{log},
      name_{std::move(name)},
      time_to_live_{time_to_live},
      changed_{std::move(changed)} {}

void election::begin(const leader_change& known) {
  known_ = known;
  ask_lease();
}

void election::later(std::chrono::milliseconds delay, void (election::*work)()) {
  log_.call_later(delay, [this, work] {
    if (!resigned_) (this->*work)();
  });
}

// -- the lease ------------------------------------------------------------------------------------

void election::ask_lease() {
  log_.grant(time_to_live_, [this](const expected<lease_id>& given) { on_lease(given); });
}

void election::on_lease(const expected<lease_id>& given) {
  if (!given) {
    spdlog::warn("election: no lease can be had, trying again: {}", given.error().message);
    return later(defaults::log_retry_limit, &election::ask_lease);
  }
  if (resigned_) return log_.revoke(*given);
  lease_ = *given;
  renewed_ = std::chrono::steady_clock::now();
  later(time_to_live_ / defaults::lease_part, &election::renew);
  stand();
}

void election::renew() {
  log_.renew(lease_, [this](const expected<std::chrono::seconds>& left) { on_renewed(left); });
}

// A leader that has not heard of its lease for so long stops of itself; the fence would stop it
// anyway.
void election::on_renewed(const expected<std::chrono::seconds>& left) {
  if (resigned_) return;
  const auto now = std::chrono::steady_clock::now();
  const bool ended = left && left->count() <= 0;
  if (left && !ended) {
    renewed_ = now;
    if (fence_ == 0 && known_.name == name_) lead(known_.created);
  } else if (ended || now - renewed_ > time_to_live_ - time_to_live_ / defaults::lease_part) {
    lead(0);
  }
  if (ended) return ask_lease();
  later(time_to_live_ / defaults::lease_part, &election::renew);
}

// -- the key --------------------------------------------------------------------------------------

// Nothing is concluded from the answer: a step tells who leads.
void election::stand() {
  if (known_.created != 0 || lease_ == 0 || resigned_ || std::exchange(standing_, true)) return;
  const std::string key{leader_key};
  log_.submit({{{key, 0}}, {{key, name_, lease_}}},
              [this](const log_answer& told) { on_stood(told); });
}

void election::on_stood(const log_answer& told) {
  standing_ = false;
  const bool is_known =
      told.result == log_answer::outcome::committed || told.result == log_answer::outcome::conflict;
  if (!is_known) later(defaults::log_retry_first, &election::stand);
}

void election::on_leader(const leader_change& seen) {
  if (seen.created == known_.created) return;
  known_ = seen;
  if (known_.created == 0) {
    spdlog::info("election: nobody leads");
    lead(0);
    return stand();
  }
  spdlog::info("election: {} leads from revision {} on", known_.name, known_.created);
  lead(known_.name == name_ ? known_.created : 0);
}

void election::lead(revision fence) {
  if (std::exchange(fence_, fence) != fence) changed_(fence);
}

void election::resign() {
  if (std::exchange(resigned_, true)) return;
  lead(0);
  if (lease_ != 0) log_.revoke(lease_);
}

}  // namespace troupe::persistence
