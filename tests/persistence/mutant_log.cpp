#include "persistence/mutant_log.hpp"

#include <algorithm>

#include "persistence/replica/log_record.hpp"

namespace troupe::persistence::testing {

namespace {

// Excludes the transactions of the election and the session.
bool is_of_objects(const log_transaction& request) {
  return std::any_of(request.writes.begin(), request.writes.end(),
                     [](const auto& each) { return !each.key.starts_with(own_prefix); });
}

}  // namespace

mutant_log::mutant_log(std::unique_ptr<shared_log> inner, mutant without, std::uint64_t seed,
                       double drop)
    : forwarding_log{std::move(inner)}, without_{without}, drop_{drop}, random_{seed} {}

void mutant_log::submit(log_transaction request, std::function<void(log_answer)> done) {
  const auto is_dropped = [&](const log_compare& each) {
    return (without_ == mutant::no_fence && each.key == leader_key) ||
           (without_ == mutant::no_session && each.key.starts_with(session_key("")));
  };
  auto& compares = request.compares;
  auto place = compares.end();
  if (is_of_objects(request)) place = std::find_if(compares.begin(), compares.end(), is_dropped);
  // Results are numbered as if it were still there.
  const auto removed = static_cast<std::size_t>(place - compares.begin());
  if (place != compares.end()) compares.erase(place);
  log().submit(std::move(request), [this, removed, done = std::move(done)](const log_answer& told) {
    auto answer = told;
    seen_ = std::max(seen_, answer.at);
    if (answer.result == log_answer::outcome::conflict) {
      if (answer.compare >= removed) ++answer.compare;
      if (without_ == mutant::no_await) answer.at = 0;
    }
    done(answer);
  });
}

void mutant_log::newest(std::function<void(expected<revision>)> done) {
  if (without_ != mutant::no_fresh) return log().newest(std::move(done));
  log().call_later({}, [this, done = std::move(done)] { done(seen_); });
}

void mutant_log::follow(revision after, log_reader& reader) {
  tap_.to = &reader;
  log().follow(after, tap_);
}

// The audit would find steps that are missing, too.
void mutant_log::list(log_range range, std::function<void(expected<log_page>)> done) {
  const bool is_audited = without_ != mutant::no_audit && without_ != mutant::no_hole_check;
  if (is_audited || !range.keys_only) return log().list(std::move(range), std::move(done));
  log().call_later({}, [done = std::move(done)] { done(fail(errc::unknown, "no audit")); });
}

void mutant_log::tap::on_steps(std::vector<log_step> steps) {
  std::vector<log_step> left;
  for (auto& each : steps) {
    of.seen_ = std::max(of.seen_, each.at);
    if (std::uniform_real_distribution{}(of.random_) >= of.drop_)
      left.push_back(std::move(each));
    else if (of.without_ == mutant::no_hole_check)
      left.push_back({each.at, {}});
  }
  if (!left.empty()) to->on_steps(std::move(left));
}

}  // namespace troupe::persistence::testing
