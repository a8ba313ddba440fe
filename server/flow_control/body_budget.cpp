#include "server/flow_control/body_budget.hpp"

#include "server/access/authentication.hpp"
#include "server/defaults.hpp"
#include "server/flow_control/flow.hpp"
#include "server/http/status.hpp"

namespace troupe::server {

body_charge::body_charge(std::shared_ptr<body_budget> from, const request& head)
    : from_{std::move(from)},
      user_{key_counts::key_of(flow_name(head))},
      address_{key_counts::key_of(head.connection ? head.connection->address : 0)},
      privileged_{head.user && head.user->in_group(masters_group)} {}

body_charge::~body_charge() {
  from_->bytes_.fetch_sub(covered_, std::memory_order_relaxed);
  from_->users_.subtract(user_, covered_);
  from_->addresses_.subtract(address_, covered_);
}

std::optional<std::string_view> body_charge::cover(std::size_t size, const body_limits& limits) {
  if (size <= covered_) return std::nullopt;
  // In steps, so that a body of many small parts updates the counts only a few times.
  const auto step = defaults::body_step_bytes;
  const auto more = (size - covered_ + step - 1) / step * step;
  covered_ += more;
  const auto all = from_->bytes_.fetch_add(more, std::memory_order_relaxed) + more;
  from_->users_.add(user_, more);
  from_->addresses_.add(address_, more);
  if (all > (privileged_ ? limits.in_all : limits.in_all - limits.in_all / 4))
    return "the server holds as many bytes of requests as it may";
  if (privileged_) return std::nullopt;
  if (from_->users_.of(user_) > limits.of_user)
    return "this user's requests hold as many bytes as they may";
  if (from_->addresses_.of(address_) > limits.of_address)
    return "the requests from this address hold as many bytes as they may";
  return std::nullopt;
}

std::optional<response> charge_body(std::unique_ptr<body_charge>& charge,
                                    const std::shared_ptr<body_budget>& from,
                                    const request& request, const body_limits& limits) {
  if (request.content.empty()) return std::nullopt;
  if (!charge) charge = std::make_unique<body_charge>(from, request);
  const auto beyond = charge->cover(request.content.size(), limits);
  if (!beyond) return std::nullopt;
  return status_response(
      api::too_many_requests("Too many requests, please try again later: " + std::string{*beyond},
                             defaults::retry_after_seconds));
}

}  // namespace troupe::server
