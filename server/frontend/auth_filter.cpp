#include "server/frontend/auth_filter.hpp"

#include <utility>

#include "server/access/impersonation.hpp"
#include "server/access/own_host.hpp"
#include "server/access/socket_token.hpp"
#include "server/defaults.hpp"
#include "server/http/status.hpp"
#include "server/http/version.hpp"

namespace troupe::server {
namespace {

std::optional<response> take_place(const in_flight& in_flight, const request& request,
                                   std::shared_ptr<void>& permit) {
  if (request.long_running) return std::nullopt;
  permit = in_flight.enter(request);
  if (permit) return std::nullopt;
  return status_response(api::too_many_requests("Too many requests, please try again later.",
                                                defaults::retry_after_seconds));
}

bool is_served_here(const request_info& info) {
  const bool reads = !info.is_resource && (info.verb == "get" || info.verb == "head");
  return is_public(info) || (reads && health_checks::serves(info.path));
}

}  // namespace

auth_filter::auth_filter(const authenticator& authenticator, const authorization& authorization,
                         const in_flight& in_flight, const health_checks& health, handler& api)
    : authenticator_{authenticator},
      authorization_{authorization},
      in_flight_{in_flight},
      health_{health},
      api_{api} {}

std::optional<response> auth_filter::admit(request& head) {
  head.info = parse_request_info(head.method_text, head.path, head.query);
  head.long_running = head.info.long_running();
  auto user = authenticator_.authenticate(head);
  if (!user && authenticator_.source_of_new_token(head) != nullptr) return std::nullopt;
  hide_socket_token(head.headers);
  if (!user) return status_response(user.error());
  return admit_user(head, std::move(*user));
}

std::optional<response> auth_filter::admit_user(request& head, user_ptr user) {
  head.user = std::move(user);
  auto other = impersonated(head.headers, *head.user, authorization_);
  if (!other) return status_response(other.error());
  if (*other) head.impersonator = std::exchange(head.user, std::move(*other));
  if (auto allowed = authorization_.check(*head.user, head.info); !allowed)
    return status_response(allowed.error());
  if (is_served_here(head.info)) return std::nullopt;
  return api_.admit(head);
}

std::optional<response> auth_filter::enter(const request& request, std::shared_ptr<void>& permit) {
  // Health must be visible especially when the node is busy.
  if (is_served_here(request.info)) return std::nullopt;
  return take_place(in_flight_, request, permit);
}

void auth_filter::serve_at_newest(request_ptr request, responder answer) {
  const auto* source = authenticator_.source_of_new_token(*request);
  const auto again = [this, request, answer] {
    auto user = authenticator_.authenticate(*request);
    hide_socket_token(request->headers);
    if (!user) return answer.respond(status_response(user.error()));
    if (auto refused = admit_user(*request, std::move(*user)))
      return answer.respond(std::move(*refused));
    serve(request, answer);
  };
  if (source == nullptr) return again();
  source->at_newest([answer, again] { answer.run(again); });
}

// A request without a user never reaches the API, which would serve it as one that has no filter in
// front.
void auth_filter::serve(request_ptr request, responder answer) {
  if (request->user == nullptr) return serve_at_newest(std::move(request), std::move(answer));
  if (is_served_here(request->info)) {
    if (health_checks::serves(request->path)) return answer.respond(health_.serve(*request));
    return answer.respond(version_response());
  }
  api_.serve(std::move(request), std::move(answer));
}

open_filter::open_filter(const in_flight& in_flight, handler& api, std::vector<std::string> names)
    : names_{std::move(names)}, in_flight_{in_flight}, api_{api} {}

std::optional<response> open_filter::admit(request& head) {
  head.info = parse_request_info(head.method_text, head.path, head.query);
  head.user = anonymous();
  hide_socket_token(head.headers);
  // Its watches are below /watch/, which today's rules parse in the same way.
  head.long_running = head.info.long_running();
  if (auto foreign = refuse_foreign_page(head, names_)) return foreign;
  return api_.admit(head);
}

std::optional<response> open_filter::enter(const request& request, std::shared_ptr<void>& permit) {
  return take_place(in_flight_, request, permit);
}

void open_filter::serve(request_ptr request, responder answer) {
  api_.serve(std::move(request), std::move(answer));
}

}  // namespace troupe::server
