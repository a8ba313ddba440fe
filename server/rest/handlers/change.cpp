#include "server/rest/handlers/change.hpp"

#include <spdlog/spdlog.h>

#include <exception>
#include <memory>
#include <utility>

#include "actors/core/service_allocations.hpp"
#include "actors/core/store_error.hpp"

namespace troupe::server {
namespace {

struct attempt {
  call_ptr call;
  bool dry_run;
  planner plan;
  change_done done;
  change_failed failed;
  std::string name = {};  // of the object that was tried last; a create has none in its path
  int left = defaults::write_attempts;
  int draws_left = defaults::allocation_attempts;
};
using attempt_ptr = std::shared_ptr<attempt>;

// The result without a dry run.
change_result imagine(change_plan& plan) {
  auto& first = plan.transaction.mutations.front();
  const bool removed = first.content == nullptr;
  if (plan.shown || removed) return {plan.shown ? plan.shown : plan.before, plan.status, removed};
  const auto revision = plan.before ? plan.before->revision() : 0;
  return {std::make_shared<const api::object>(*first.kind, std::move(first.content), revision),
          plan.status, false};
}

void try_once(const attempt_ptr& a);

void try_again(const attempt_ptr& a, const persistence::error& error) {
  const auto give_up = [&] { a->failed(actors::to_api_error(error, a->call->kind(), a->name)); };
  // A number that the server has drawn is the server's to draw again.
  auto& left = actors::is_allocation_key(error.key) ? a->draws_left : a->left;
  if (error.code != persistence::errc::conflict || --left == 0) return give_up();
  if (!a->call->services.retries.post([a] { try_once(a); })) give_up();
}

// On a commit thread, which is everybody's: without the memory for its answer the client gets that
// of a request that failed, as its call is dropped.
template <class F>
void guarded(const attempt_ptr& a, F f) {
  try {
    f();
  } catch (const std::exception& e) {
    spdlog::error("server: the answer to {} {} failed: {}", a->call->request->method_text,
                  a->call->request->path, e.what());
  }
}

void try_once(const attempt_ptr& a) {
  auto planned = a->plan(a->call->services.read());
  if (!planned) return a->failed(planned.error());
  if (planned->transaction.mutations.empty())
    return a->done({planned->before, planned->status, false});
  if (a->dry_run) return a->done(imagine(*planned));
  const auto& first = planned->transaction.mutations.front();
  const bool removed = first.content == nullptr;
  a->name = first.key.substr(first.key.rfind('/') + 1);
  planned->transaction.cause = a->call->cause();
  a->call->services.plane.commit(
      std::move(planned->transaction), a->call->request->id,
      [a, removed, shown = std::move(planned->shown),
       status = planned->status](persistence::outcome result) {
        guarded(a, [&] {
          if (!result) return try_again(a, result.error());
          a->done({shown ? shown : result->objects.front(), status, removed});
        });
      });
}

}  // namespace

void carry_out(const call_ptr& call, bool dry_run, planner plan, change_done done,
               change_failed failed) {
  try_once(std::make_shared<attempt>(
      attempt{call, dry_run, std::move(plan), std::move(done), std::move(failed)}));
}

void carry_out(const call_ptr& call, bool dry_run, planner plan, change_done done) {
  carry_out(call, dry_run, std::move(plan), std::move(done),
            [call](const api::error& error) { call->fail(error); });
}

void carry_out(const call_ptr& call, bool dry_run, planner plan) {
  carry_out(call, dry_run, std::move(plan),
            [call](const change_result& result) { call->answer(result.status, result.object); });
}

}  // namespace troupe::server
