// Refuses a node's certificate over HTTP after its Node was deleted or got another key
// (docs/decisions/0055-expelled-machines.md). Thread safe.
#pragma once

#include "persistence/store/store.hpp"
#include "server/access/authentication.hpp"

namespace troupe::server {

// Does not check requests to join_api: a removed machine gets its error when it renews its
// certificate, and may leave.
class node_certificates final : public certificate_check {
 public:
  // The store must outlive it.
  explicit node_certificates(const persistence::store& store) : store_{store} {}

  api::expected<void> check(const request& head) const override;

 private:
  const persistence::store& store_;
};

}  // namespace troupe::server
