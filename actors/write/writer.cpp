#include "actors/write/writer.hpp"

#include <spdlog/fmt/fmt.h>

#include <random>
#include <utility>

#include "actors/defaults.hpp"
#include "api/schema/meta_object.pb.h"

namespace troupe::actors {

namespace {

constexpr const char* term_over = "this control plane no longer leads";

persistence::error refusal() {
  return {.code = persistence::errc::closed, .message = term_over};
}

}  // namespace

writer::writer(std::shared_ptr<write_service> service, writer_options options)
    : service_{std::move(service)}, options_{options} {}

const runtime::behavior& writer::make_behavior() const {
  static const auto table =
      runtime::handlers(&writer::on_commit, &writer::on_bind, &writer::on_evict, &writer::on_remove,
                        &writer::on_barrier);
  return table;
}

void writer::started() {
  if (service_->has_external_steps())
    round_ = every(defaults::external_round, [this] { service_->expire(); });
}

std::string writer::describe() const {
  const auto count = service_->count();
  return fmt::format(
      "committed: {}\nconflicts: {}\nfailed: {}\nunderWay: {}\nwaitingOutside: {}\nbinds: "
      "{}\nevictions: {}\nremovals: {}\n",
      count.committed, count.conflicts, count.failed, count.under_way, count.waiting_external,
      binds_, evictions_, removals_);
}

void writer::on_commit(const commit& m, runtime::promise<commit_done> answer) {
  auto transaction = std::move(*m.transaction);
  transaction.cause = complete(std::move(transaction.cause));
  transaction.fence = options_.fence;
  if (draws_conflict()) {
    const auto& demanded = transaction.preconditions;
    return answer.deliver({tl::make_unexpected(
        persistence::error{.code = persistence::errc::conflict,
                           .message = "a conflict was injected",
                           .key = demanded.empty() ? std::string{} : demanded.front().key})});
  }
  const auto promise = std::make_shared<runtime::promise<commit_done>>(std::move(answer));
  const bool open = pass([&] {
    service_->submit(std::move(transaction), [promise](persistence::outcome result) {
      promise->deliver(commit_done{std::move(result)});
    });
  });
  if (!open) promise->deliver({persistence::fail(refusal())});
}

void writer::on_bind(const bind& m, runtime::promise<command_done> answer) {
  ++binds_;
  carry_out([m, now = wall_now()](
                const auto& state) { return propose(plan_bind(state, m, now), "binding"); },
            m.cause, std::move(answer));
}

void writer::on_evict(const evict& m, runtime::promise<command_done> answer) {
  ++evictions_;
  carry_out([m, now = wall_now()](
                const auto& state) { return propose(plan_evict(state, m, now), "eviction"); },
            m.cause, std::move(answer));
}

void writer::on_remove(const remove& m, runtime::promise<command_done> answer) {
  ++removals_;
  carry_out([m, now = wall_now()](
                const auto& state) { return propose_removal(plan_remove(state, m, now)); },
            m.cause, std::move(answer));
}

// Everything sent to this actor before has been submitted.
void writer::on_barrier(const barrier&, runtime::promise<barrier_done> answer) {
  if (draws_conflict())
    return answer.deliver(
        {persistence::fail(persistence::errc::overloaded, "an error was injected")});
  const auto promise = std::make_shared<runtime::promise<barrier_done>>(std::move(answer));
  const bool open = pass([&] {
    service_->barrier([promise](persistence::expected<revision> reached) {
      promise->deliver(barrier_done{std::move(reached)});
    });
  });
  if (!open) promise->deliver({persistence::fail(refusal())});
}

void writer::carry_out(std::function<api::expected<proposal>(const persistence::snapshot&)> propose,
                       persistence::change_cause cause, runtime::promise<command_done> answer) {
  const auto promise = std::make_shared<runtime::promise<command_done>>(std::move(answer));
  int false_conflicts = 0;
  while (false_conflicts < defaults::write_attempts && draws_conflict())
    ++false_conflicts;
  const auto done = [promise](write_outcome outcome) {
    if (!outcome.result) return promise->deliver({api::fail(std::move(outcome.result.error()))});
    promise->deliver({std::move(outcome.result->object)});
  };
  // Proposed again after a conflict, without this actor.
  auto while_open = [gate = options_.gate, propose = std::move(propose)](
                        const persistence::snapshot& state) -> api::expected<proposal> {
    if (gate && gate->closed()) return api::fail(api::service_unavailable(term_over));
    return propose(state);
  };
  const bool open = pass([&] {
    service_->carry_out({.propose = std::move(while_open),
                         .done = done,
                         .cause = complete(std::move(cause)),
                         .by = admission::controllers(),
                         .fence = options_.fence,
                         .false_conflicts = false_conflicts});
  });
  if (!open) done({api::fail(api::service_unavailable(term_over))});
}

template <class F>
bool writer::pass(F write) const {
  if (options_.gate) return options_.gate->pass(std::move(write));
  write();
  return true;
}

bool writer::draws_conflict() {
  return options_.conflict_chance > 0 &&
         std::uniform_real_distribution{}(random()) < options_.conflict_chance;
}

persistence::change_cause writer::complete(persistence::change_cause given) const {
  if (given.request == 0) given.request = current_cause().request;
  if (given.trigger == 0) given.trigger = current_cause().revision;
  return given;
}

}  // namespace troupe::actors
