#include "server/legacy/legacy_call.hpp"

#include <utility>

#include "server/rest/requests/audit.hpp"

namespace troupe::server::legacy {
namespace {

route route_of(const place& at) {
  route out;
  if (at.hub != nullptr) out.at = route::place::objects;
  out.version = "v1";
  out.kind = at.hub;
  out.ns = at.ns;
  out.name = at.name;
  return out;
}

}  // namespace

// Requests do not name the client's version, but v0.2 sends targets that end with "?" or
// "?labels=", where later clients omit empty parameters. (They also send "?labels=" in lists, which
// have a Status only on failure, and those are not compared.)
dialect dialect_of(const request& request) {
  return request.empty_query || request.query.raw() == "labels=" ? dialect::v0_2 : dialect::v0_4;
}

legacy_call::legacy_call(rest_services& services, operations& pending, request_ptr request,
                         responder to, place at, verb verb)
    : services{services},
      pending{pending},
      request{std::move(request)},
      at{std::move(at)},
      words{dialect_of(*this->request)},
      to_{std::move(to)},
      today_{services, this->request, {}, route_of(this->at), verb} {}

call_ptr legacy_call::today() {
  return {shared_from_this(), &today_};
}

void legacy_call::answer(int status, std::string json) const {
  answer(json_response(status, std::move(json)));
}

void legacy_call::answer(response with) const {
  const request_record record{*request,
                              today_.route,
                              today_.verb,
                              with.status,
                              std::chrono::steady_clock::now() - request->received,
                              &today_.annotations()};
  audit(record);
  if (services.options.observe) services.options.observe(record);
  to_.respond(std::move(with));
}

void legacy_call::fail(const api::error& error) const {
  const auto shown = at.shape == nullptr ? error : to_legacy_error(error, *at.shape, at.id);
  auto out = json_response(error.code, failure_json(shown, words));
  if (error.retry_after_seconds != 0)
    out.fields.push_back({"retry-after", std::to_string(error.retry_after_seconds)});
  answer(std::move(out));
}

}  // namespace troupe::server::legacy
