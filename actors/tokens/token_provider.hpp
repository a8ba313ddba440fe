// Issues ServiceAccount tokens to kubelets: to that of this process directly, to those of joined
// nodes through their sessions, which first check the node's permission.
//
// Stateless. Signing takes about ten microseconds, so the actor does it itself.
#pragma once

#include <memory>
#include <string>

#include "actors/tokens/token_issuer.hpp"
#include "persistence/store/store.hpp"
#include "runtime/actor.hpp"

namespace troupe::actors {

class token_provider : public runtime::actor {
 public:
  // The store must outlive it. Without an issuer every request fails.
  token_provider(const persistence::store* store, std::shared_ptr<const token_issuer> issuer);

  const runtime::behavior& make_behavior() const override;
  std::string describe() const override;

 private:
  void on_request_token(const request_token& m, runtime::promise<token_answer> answer);
  api::expected<granted_token> grant(const token_spec& order);

  const persistence::store* store_;
  const std::shared_ptr<const token_issuer> issuer_;
  std::uint64_t granted_ = 0, refused_ = 0;
};

}  // namespace troupe::actors
