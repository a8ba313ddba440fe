#include "actors/tokens/token_provider.hpp"

#include <spdlog/fmt/fmt.h>

#include <utility>

#include "actors/core/condition.hpp"
#include "api/values/uid.hpp"

namespace troupe::actors {

token_provider::token_provider(const persistence::store* store,
                               std::shared_ptr<const token_issuer> issuer)
    : store_{store}, issuer_{std::move(issuer)} {}

const runtime::behavior& token_provider::make_behavior() const {
  static const auto table = runtime::handlers(&token_provider::on_request_token);
  return table;
}

std::string token_provider::describe() const {
  return fmt::format("issues: {}\ngranted: {}\nrefused: {}\n", issuer_ != nullptr, granted_,
                     refused_);
}

void token_provider::on_request_token(const request_token& m,
                                      runtime::promise<token_answer> answer) {
  auto result = grant(m.order);
  ++(result ? granted_ : refused_);
  answer.deliver({std::move(result)});
}

api::expected<granted_token> token_provider::grant(const token_spec& order) {
  if (!issuer_) return api::fail(api::service_unavailable("this control plane issues no tokens"));
  const auto planned = plan_token(store_->read(), order, issuer_->api_audiences(),
                                  seconds_of(wall_now()), api::generated_uid(random()));
  if (!planned) return api::fail(planned.error());
  auto token = issuer_->sign(planned->claims);
  if (!token) return api::fail(api::internal(token.error()));
  return granted_token{std::move(*token), planned->shown_expiration};
}

}  // namespace troupe::actors
