#include "actors/core/writer.hpp"

#include <spdlog/fmt/fmt.h>

#include <random>
#include <utility>

#include "actors/core/service_allocations.hpp"
#include "actors/core/store_error.hpp"
#include "actors/defaults.hpp"
#include "api/schema/meta_object.pb.h"

namespace troupe::actors {

writer::writer(persistence::store* store, writer_options options)
    : store_{store}, options_{options} {}

const runtime::behavior& writer::make_behavior() const {
  static const auto table =
      runtime::handlers(&writer::on_commit, &writer::on_bind, &writer::on_evict, &writer::on_remove,
                        &writer::on_retry);
  return table;
}

std::string writer::describe() const {
  return fmt::format(
      "committed: {}\nconflicts: {}\nfailed: {}\nunderWay: {}\nbinds: {}\nevictions: {}\nremovals: "
      "{}\n",
      tally_->committed.load(), tally_->conflicts.load(), tally_->failed.load(),
      tally_->under_way.load(), binds_, evictions_, removals_);
}

void writer::on_commit(const commit& m, runtime::promise<commit_done> answer) {
  auto promise = std::make_shared<runtime::promise<commit_done>>(std::move(answer));
  auto transaction = std::move(*m.transaction);
  transaction.cause = complete(std::move(transaction.cause));
  submit(std::move(transaction), [promise](persistence::outcome result) {
    promise->deliver(commit_done{std::move(result)});
  });
}

void writer::on_bind(const bind& m, runtime::promise<command_done> answer) {
  ++binds_;
  begin([m](const auto& state, auto now) { return plan_bind(state, m, now); }, m.cause,
        std::move(answer));
}

void writer::on_evict(const evict& m, runtime::promise<command_done> answer) {
  ++evictions_;
  begin([m](const auto& state, auto now) { return plan_evict(state, m, now); }, m.cause,
        std::move(answer));
}

void writer::on_remove(const remove& m, runtime::promise<command_done> answer) {
  ++removals_;
  begin([m](const auto& state, auto now) { return plan_remove(state, m, now); }, m.cause,
        std::move(answer));
}

void writer::on_retry(const retry& m) {
  carry_out(m.attempt);
}

void writer::begin(planner plan, persistence::change_cause cause,
                   runtime::promise<command_done> answer) {
  carry_out(std::make_shared<attempt>(attempt{std::move(plan), complete(std::move(cause)),
                                              std::move(answer), defaults::command_attempts}));
}

void writer::carry_out(std::shared_ptr<writer::attempt> attempt) {
  auto plan = attempt->plan(store_->read(), wall_now());
  if (!plan)
    return attempt->answer.deliver(command_done{tl::make_unexpected(std::move(plan.error()))});
  if (plan->transaction.mutations.empty())
    return attempt->answer.deliver(command_done{std::move(plan->object)});
  plan->transaction.cause = attempt->cause;
  submit(std::move(plan->transaction), [attempt, self = self(), object = std::move(plan->object)](
                                           persistence::outcome result) {
    if (result) return attempt->answer.deliver(command_done{result->objects.front()});
    if (result.error().code == persistence::errc::conflict && --attempt->left > 0) {
      if (self.tell(retry{attempt})) return;
    }
    attempt->answer.deliver(
        {tl::make_unexpected(to_api_error(result.error(), object->kind(), object->meta().name()))});
  });
}

void writer::submit(persistence::transaction transaction,
                    std::function<void(persistence::outcome)> done) {
  if (options_.conflict_chance > 0 &&
      std::uniform_real_distribution{}(random()) < options_.conflict_chance) {
    ++tally_->conflicts;
    const auto& key =
        transaction.preconditions.empty() ? std::string{} : transaction.preconditions.front().key;
    return done(tl::make_unexpected(persistence::error{
        .code = persistence::errc::conflict, .message = "a conflict was injected", .key = key}));
  }
  follow_services(*store_, transaction);
  if (options_.capacity) options_.capacity->limit(transaction);
  ++tally_->under_way;
  store_->submit(std::move(transaction),
                 [counts = tally_, done = std::move(done)](persistence::outcome result) {
                   --counts->under_way;
                   if (result) {
                     ++counts->committed;
                   } else if (result.error().code == persistence::errc::conflict) {
                     ++counts->conflicts;
                   } else {
                     ++counts->failed;
                   }
                   done(std::move(result));
                 });
}

persistence::change_cause writer::complete(persistence::change_cause given) const {
  if (given.request == 0) given.request = current_cause().request;
  if (given.trigger == 0) given.trigger = current_cause().revision;
  return given;
}

}  // namespace troupe::actors
