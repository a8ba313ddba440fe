#include "server/gate.hpp"

#include <utility>

#include "server/admission/own_host.hpp"
#include "server/defaults.hpp"
#include "server/impersonation.hpp"
#include "server/status.hpp"
#include "server/version.hpp"

namespace troupe::server {
namespace {

std::optional<response> take_place(const in_flight& room, const request& whole,
                                   std::shared_ptr<void>& permit) {
  if (whole.long_running) return std::nullopt;
  permit = room.enter(whole);
  if (permit) return std::nullopt;
  return status_response(api::too_many_requests("Too many requests, please try again later.",
                                                defaults::retry_after_seconds));
}

}  // namespace

gate::gate(const authenticator& who, const authorization& may, const in_flight& room,
           const health_checks& health, handler& api)
    : who_{who}, may_{may}, room_{room}, health_{health}, api_{api} {}

std::optional<response> gate::admit(request& head) {
  head.info = parse_request_info(head.method_text, head.path, head.query);
  head.long_running = head.info.long_running();
  auto user = who_.authenticate(head);
  if (!user) return status_response(user.error());
  head.user = std::move(*user);
  auto other = impersonated(head.headers, *head.user, may_);
  if (!other) return status_response(other.error());
  if (*other) head.impersonator = std::exchange(head.user, std::move(*other));
  if (auto allowed = may_.check(*head.user, head.info); !allowed)
    return status_response(allowed.error());
  if (is_public(head.info)) return std::nullopt;
  return api_.admit(head);
}

std::optional<response> gate::enter(const request& whole, std::shared_ptr<void>& permit) {
  // Whether the node is well must be seen above all when it is busy.
  if (is_public(whole.info)) return std::nullopt;
  return take_place(room_, whole, permit);
}

void gate::serve(request_ptr what, responder answer) {
  if (is_public(what->info)) {
    if (health_checks::serves(what->path)) return answer.respond(health_.serve(*what));
    return answer.respond(version_response());
  }
  api_.serve(std::move(what), std::move(answer));
}

open_gate::open_gate(const in_flight& room, handler& api, std::vector<std::string> names)
    : names_{std::move(names)}, room_{room}, api_{api} {}

std::optional<response> open_gate::admit(request& head) {
  head.info = parse_request_info(head.method_text, head.path, head.query);
  head.user = anonymous();
  // Its watches live below /watch/, which the rules of today read alike.
  head.long_running = head.info.long_running();
  if (auto foreign = refuse_foreign_page(head, names_)) return foreign;
  return api_.admit(head);
}

std::optional<response> open_gate::enter(const request& whole, std::shared_ptr<void>& permit) {
  return take_place(room_, whole, permit);
}

void open_gate::serve(request_ptr what, responder answer) {
  api_.serve(std::move(what), std::move(answer));
}

}  // namespace troupe::server
