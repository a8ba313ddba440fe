// The controller of Secrets of type kubernetes.io/service-account-token: it fills a Secret that
// names an account with a token that does not expire, the CA certificates and the namespace, and
// deletes it with the account. Optionally each account gets one, as in clusters up to 1.23.
//
// kubernetes: pkg/controller/serviceaccount/tokens_controller.go.
//
// Its state is the Secrets in its stream, rebuilt from the store after a crash.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>

#include "actors/core/cluster_authority.hpp"
#include "actors/core/core_actors.hpp"
#include "actors/core/informer.hpp"
#include "actors/tokens/token_issuer.hpp"
#include "api/schema/core_config.pb.h"

namespace troupe::actors {

struct token_secret_options {
  std::shared_ptr<const token_issuer> issuer;  // never null
  std::shared_ptr<const cluster_authority> authority = {};
  bool one_for_each = false;  // for each account
};

// Adds missing data to an account's Secret; returns false if there are none. `sign` makes a token.
bool fill_token_secret(api::core::v1::Secret& secret, const api::object& account,
                       const std::string& certificates,
                       const std::function<std::string(const token_claims&)>& sign);

class token_secrets : public informer {
 public:
  // The store must outlive it.
  token_secrets(const persistence::store* store, core_actors core, token_secret_options options);

  const runtime::behavior& make_behavior() const override;
  void started() override;
  std::string describe() const override;

 private:
  void on_secrets(const watch_events& m);
  void on_accounts(const watch_events& m);
  void forget(const std::string& secret, const std::string& account);
  void sync_service_account(const std::string& key);
  void sync_secret(const std::string& key);
  void fill(const api::object& secret, const api::object& account);
  void unlist(const std::string& account_key, const std::string& name);
  void make_secret(const persistence::snapshot& state, const api::object& account);
  std::string sign(const token_claims& claims) const;
  std::string certificates() const;
  void write(const std::string& key, persistence::transaction transaction,
             std::function<void()> again);
  // With back-off, until a write for `key` succeeds or `again` sends none.
  void retry_later(const std::string& key, std::function<void()> again);

  struct failed_write {
    runtime::timer timer;
    runtime::duration pause{0};
  };

  const persistence::store* store_;
  const core_actors core_;
  const token_secret_options options_;
  std::map<std::string, std::set<std::string>> secrets_of_;  // keys, by key of their account
  std::map<std::string, failed_write> retries_;              // by key
  std::uint64_t sent_ = 0;                                   // writes
};

}  // namespace troupe::actors
