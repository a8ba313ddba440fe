// Gives tokens of ServiceAccounts to kubelets: to the one of this program directly, to those of
// joined nodes by their sessions, which look first whether the node may have it.
//
// Keeps nothing. Signing takes some ten microseconds, so it is done here.
#pragma once

#include <memory>
#include <string>

#include "actors/tokens/token_issuer.hpp"
#include "persistence/store/store.hpp"
#include "runtime/actor.hpp"

namespace troupe::actors {

class token_desk : public runtime::actor {
 public:
  // The store must outlive it. Without an issuer every request is refused.
  token_desk(const persistence::store* store, std::shared_ptr<const token_issuer> issuer);

  const runtime::behavior& make_behavior() const override;
  std::string describe() const override;

 private:
  void on_request_token(const request_token& m, runtime::promise<token_answer> answer);
  api::expected<granted_token> grant(const token_order& order);

  const persistence::store* store_;
  const std::shared_ptr<const token_issuer> issuer_;
  std::uint64_t granted_ = 0, refused_ = 0;
};

}  // namespace troupe::actors
