#include "persistence/mutant_log.hpp"

#include <algorithm>

#include "persistence/replica/log_record.hpp"

namespace troupe::persistence::testing {

namespace {

// The election and the session have transactions of their own.
bool is_of_objects(const log_transaction& request) {
  return std::any_of(request.writes.begin(), request.writes.end(),
                     [](const auto& each) { return !each.key.starts_with(own_prefix); });
}

}  // namespace

mutant_log::mutant_log(std::unique_ptr<shared_log> inner, mutant without, std::uint64_t seed,
                       double drop)
    : without_{without}, drop_{drop}, random_{seed}, inner_{std::move(inner)} {}

void mutant_log::submit(log_transaction request, std::function<void(log_answer)> done) {
  const auto is_dropped = [&](const log_compare& each) {
    return (without_ == mutant::no_fence && each.key == leader_key) ||
           (without_ == mutant::no_session && each.key.starts_with(session_key("")));
  };
  auto& compares = request.compares;
  auto place = compares.end();
  if (is_of_objects(request)) place = std::find_if(compares.begin(), compares.end(), is_dropped);
  // Answers count as if it were still there.
  const auto removed = static_cast<std::size_t>(place - compares.begin());
  if (place != compares.end()) compares.erase(place);
  inner_->submit(std::move(request),
                 [this, removed, done = std::move(done)](const log_answer& told) {
                   auto answer = told;
                   if (answer.result == log_answer::outcome::conflict) {
                     if (answer.compare >= removed) ++answer.compare;
                     if (without_ == mutant::no_await) answer.at = 0;
                   }
                   done(answer);
                 });
}

void mutant_log::newest(std::function<void(expected<revision>)> done) {
  if (without_ != mutant::no_fresh) return inner_->newest(std::move(done));
  inner_->call_later({}, [done = std::move(done)] { done(revision{1}); });
}

void mutant_log::follow(revision after, log_reader& reader) {
  tap_.to = &reader;
  inner_->follow(after, tap_);
}

void mutant_log::tap::on_steps(std::vector<log_step> steps) {
  std::vector<log_step> left;
  for (auto& each : steps) {
    if (std::uniform_real_distribution{}(of.random_) >= of.drop_)
      left.push_back(std::move(each));
    else if (of.without_ == mutant::no_hole_check)
      left.push_back({each.at, {}});
  }
  if (!left.empty()) to->on_steps(std::move(left));
}

// -- handed on ------------------------------------------------------------------------------------

void mutant_log::identity(std::function<void(expected<std::string>)> done) {
  inner_->identity(std::move(done));
}

void mutant_log::read(std::string key,
                      std::function<void(expected<std::optional<log_item>>)> done) {
  inner_->read(std::move(key), std::move(done));
}

void mutant_log::list(std::string after, revision at,
                      std::function<void(expected<log_page>)> done) {
  inner_->list(std::move(after), at, std::move(done));
}

void mutant_log::grant(std::chrono::seconds time_to_live,
                       std::function<void(expected<lease_id>)> done) {
  inner_->grant(time_to_live, std::move(done));
}

void mutant_log::renew(lease_id lease, std::function<void(expected<std::chrono::seconds>)> done) {
  inner_->renew(lease, std::move(done));
}

void mutant_log::revoke(lease_id lease, std::function<void()> done) {
  inner_->revoke(lease, std::move(done));
}

void mutant_log::compact(revision up_to, std::function<void(expected<void>)> done) {
  inner_->compact(up_to, std::move(done));
}

void mutant_log::call_later(std::chrono::milliseconds delay, std::function<void()> work) {
  inner_->call_later(delay, std::move(work));
}

}  // namespace troupe::persistence::testing
