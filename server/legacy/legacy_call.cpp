#include "server/legacy/legacy_call.hpp"

#include <utility>

#include "server/rest/audit.hpp"

namespace troupe::server::legacy {
namespace {

route route_of(const place& at) {
  route out;
  if (at.hub != nullptr) out.at = route::place::objects;
  out.version = "v1";
  out.kind = at.hub;
  out.space = at.space;
  out.name = at.name;
  return out;
}

}  // namespace

// Nothing in a request names its client's version, but v0.2 gives itself away by targets that end
// with "?" or "?labels=", where later clients leave out what is empty. (They, too, write "?labels="
// on lists, which have no Status but for failures, and those are not compared.)
dialect dialect_of(const request& what) {
  return what.empty_query || what.query.raw() == "labels=" ? dialect::v0_2 : dialect::v0_4;
}

legacy_call::legacy_call(rest_services& in, operations& pending, request_ptr what, responder to,
                         place at, verb wanted)
    : in{in},
      pending{pending},
      what{std::move(what)},
      at{std::move(at)},
      words{dialect_of(*this->what)},
      to_{std::move(to)},
      today_{in, this->what, {}, route_of(this->at), wanted} {}

call_ptr legacy_call::today() {
  return {shared_from_this(), &today_};
}

void legacy_call::answer(int status, std::string json) const {
  answer(json_response(status, std::move(json)));
}

void legacy_call::answer(response with) const {
  const request_record seen{*what, today_.where, today_.wanted, with.status,
                            std::chrono::steady_clock::now() - what->received};
  audit(seen);
  if (in.options.observe) in.options.observe(seen);
  to_.respond(std::move(with));
}

void legacy_call::fail(const api::error& why) const {
  const auto told = at.shape == nullptr ? why : as_told(why, *at.shape, at.id);
  auto out = json_response(why.code, failure_json(told, words));
  if (why.retry_after_seconds != 0)
    out.fields.push_back({"retry-after", std::to_string(why.retry_after_seconds)});
  answer(std::move(out));
}

}  // namespace troupe::server::legacy
