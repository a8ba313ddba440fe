// Ends what the certificate of a node gives over HTTP when its Node has gone, or has got another
// key (docs/decisions/0055-expelled-machines.md). Thread safe.
#pragma once

#include "persistence/store/store.hpp"
#include "server/access/authentication.hpp"

namespace troupe::server {

// Requests of join_api are left to it: a machine that was removed is told so when it renews its
// certificate, and may leave.
class node_certificates final : public certificate_check {
 public:
  // The store outlives it.
  explicit node_certificates(const persistence::store& store) : store_{store} {}

  api::expected<void> check(const request& head) const override;

 private:
  const persistence::store& store_;
};

}  // namespace troupe::server
