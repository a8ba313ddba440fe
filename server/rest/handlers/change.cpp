#include "server/rest/handlers/change.hpp"

#include <spdlog/spdlog.h>

#include <exception>
#include <memory>
#include <utility>

#include "runtime/actor_system.hpp"

namespace troupe::server {
namespace {

struct listener : std::enable_shared_from_this<listener> {
  listener(call_ptr call, change_done done, change_failed failed)
      : call{std::move(call)}, done{std::move(done)}, failed{std::move(failed)} {}

  const call_ptr call;
  const change_done done;
  const change_failed failed;

  void tell(const api::expected<write_result>& result,
            const actors::admission::remarks& remarks) const {
    call->note(remarks);
    if (result) return done(*result);
    failed(result.error());
  }

  // A commit thread serves everyone: it encodes nothing here. If memory for the response is
  // lacking, the client gets a failed request's response, because its call is dropped.
  void on_outcome(actors::write_outcome outcome) const try {
    if (!outcome.committing) return tell(outcome.result, outcome.remarks);
    call->run([self = shared_from_this(), outcome = std::move(outcome)] {
      self->tell(outcome.result, outcome.remarks);
    });
  } catch (const std::exception& e) {
    spdlog::error("server: the answer to {} {} failed: {}", call->request->method_text,
                  call->request->path, e.what());
  }
};

actors::admission::user user_of(const request& request) {
  if (!request.user) return {};
  return {request.user->name, request.user->uid, request.user->groups};
}

}  // namespace

actors::write_request request_of(const call& call, bool dry_run, proposer propose) {
  return {.propose = std::move(propose),
          .done = nullptr,
          .cause = call.cause(),
          .by = user_of(*call.request),
          .dry_run = dry_run};
}

void carry_out(const call_ptr& call, bool dry_run, proposer propose, change_done done,
               change_failed failed) {
  auto request = request_of(*call, dry_run, std::move(propose));
  request.done = [to = std::make_shared<const listener>(call, std::move(done), std::move(failed))](
                     actors::write_outcome outcome) { to->on_outcome(std::move(outcome)); };
  call->services.plane.writes().carry_out(std::move(request));
}

void carry_out(const call_ptr& call, bool dry_run, proposer propose, change_done done) {
  carry_out(call, dry_run, std::move(propose), std::move(done),
            [call](const api::error& error) { call->fail(error); });
}

void carry_out(const call_ptr& call, bool dry_run, proposer propose) {
  carry_out(call, dry_run, std::move(propose), [call](const write_result& result) {
    call->answer(result.created ? 201 : 200, result.object);
  });
}

runtime::wall_time wall_now(const call& call) {
  return call.services.plane.system().time().wall_now();
}

}  // namespace troupe::server
