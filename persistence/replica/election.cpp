#include "persistence/replica/election.hpp"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <random>
#include <utility>

#include "persistence/replica/defaults.hpp"

namespace troupe::persistence {

namespace {

const char* text_of(term_end reason) {
  switch (reason) {
    case term_end::unseen:
      break;
    case term_end::resigned:
      return "the last one resigned";
    case term_end::expired:
      return "the lease of the last one has expired";
  }
  return "the end of the last one's term was not seen here";
}

std::string random_number() {
  std::random_device random;
  return fmt::format("{:08x}{:08x}", random(), random());
}

}  // namespace

election::election(shared_log& log, std::string node, std::chrono::seconds time_to_live,
                   std::function<void(revision fence)> changed)
    : log_{log},
      node_{std::move(node)},
      candidate_{random_number()},
      time_to_live_{time_to_live},
      changed_{std::move(changed)} {}

void election::begin(const leader_record& known) {
  known_ = known;
  request_lease();
}

void election::later(std::chrono::milliseconds delay, void (election::*work)()) {
  log_.call_later(delay, [this, work] {
    if (!resigned_) (this->*work)();
  });
}

// -- the lease ------------------------------------------------------------------------------------

void election::request_lease() {
  log_.grant(std::chrono::duration_cast<std::chrono::seconds>(time_to_live_),
             [this](const expected<lease_id>& given) { on_lease(given); });
}

void election::on_lease(const expected<lease_id>& given) {
  if (!given) {
    spdlog::warn("election: cannot get a lease, retrying: {}", given.error().message);
    return later(defaults::log_retry_limit, &election::request_lease);
  }
  if (resigned_) return log_.revoke(*given, [] {});
  lease_ = *given;
  renewed_ = std::chrono::steady_clock::now();
  later(time_to_live_ / defaults::lease_part, &election::renew);
  campaign();
}

void election::renew() {
  if (lease_ == 0) return request_lease();
  log_.renew(lease_, time_to_live_ / defaults::renewal_part,
             [this](const expected<std::chrono::seconds>& left) { on_renewed(left); });
}

// A leader whose lease was not renewed for this long steps down; the fence would stop it
// anyway.
void election::on_renewed(const expected<std::chrono::seconds>& left) {
  if (resigned_) return;
  const auto now = std::chrono::steady_clock::now();
  const bool ended = left && left->count() <= 0;
  if (left && !ended) {
    renewed_ = now;
    renewal_retry_after_ = defaults::log_retry_first;
    if (fence_ == 0 && known_.candidate == candidate_) lead(known_.term);
  } else if (ended || now - renewed_ > time_to_live_ - time_to_live_ / defaults::lease_part) {
    lead(0);
  }
  if (ended) {
    lease_ = 0;
    return request_lease();
  }
  if (!left) return retry_renewal();
  later(time_to_live_ / defaults::lease_part, &election::renew);
}

void election::retry_renewal() {
  later(renewal_retry_after_, &election::renew);
  renewal_retry_after_ = std::min<std::chrono::milliseconds>(2 * renewal_retry_after_,
                                                             defaults::log_session_retry_limit);
}

// -- the key --------------------------------------------------------------------------------------

// The answer is ignored: a step of the log reports the leader.
void election::campaign() {
  if (known_.term != 0 || lease_ == 0 || resigned_ || std::exchange(campaigning_, true)) return;
  const std::string key{leader_key};
  const auto now = std::chrono::system_clock::now();
  log_.submit({{{key, 0}}, {{key, leader_text({0, node_, candidate_, now}), lease_}}},
              [this, lease = lease_](const log_answer& reply) { on_candidacy(lease, reply); });
}

void election::on_candidacy(lease_id with, const log_answer& reply) {
  campaigning_ = false;
  if (reply.lease_ended && with == lease_) {
    lease_ = 0;  // renew() asks for another one
    return;
  }
  const bool is_known = reply.result == log_answer::outcome::committed ||
                        reply.result == log_answer::outcome::conflict;
  if (is_known) return;
  later(retry_after_, &election::campaign);
  retry_after_ =
      std::min<std::chrono::milliseconds>(2 * retry_after_, defaults::log_session_retry_limit);
}

void election::on_leader(const leader_record& seen) {
  if (seen.term == known_.term) return;
  known_ = seen;
  retry_after_ = defaults::log_retry_first;
  if (known_.term == 0) {
    spdlog::info("election: there is no leader, {}", text_of(seen.ended));
    lead(0);
    return campaign();
  }
  spdlog::info("election: {} leads from revision {} on", known_.node, known_.term);
  lead(known_.candidate == candidate_ ? known_.term : 0);
}

void election::lead(revision fence) {
  if (std::exchange(fence_, fence) != fence) changed_(fence);
}

void election::resign(const log_tag& tag, std::function<void()> done) {
  const bool again = std::exchange(resigned_, true);
  const auto term = fence_;
  lead(0);
  if (again || lease_ == 0) return done();
  const auto revoke = [this, done = std::move(done)] { log_.revoke(lease_, done); };
  if (term == 0) return revoke();
  const std::string key{leader_key};
  log_.submit({{{key, term, true}},
               {{key, std::nullopt},
                {std::string{cause_key}, cause_text({tag, {}, std::chrono::system_clock::now()})}}},
              [revoke](const log_answer&) { revoke(); });
}

void election::stop() {
  resigned_ = true;
  lead(0);
  if (lease_ != 0) log_.revoke(lease_, [] {});
}

}  // namespace troupe::persistence
