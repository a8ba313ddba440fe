// The certificates that a TLS listener shows and trusts. The certificates may be replaced while it
// serves: connections made from then on see the new ones. Thread safe.
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <tl/expected.hpp>

struct ssl_ctx_st;

namespace troupe::server {

// Texts in PEM form.
struct tls_material {
  std::string certificates;  // the server's own first
  std::string private_key;
  // Signs client certificates. A client may come without one; what another authority signed counts
  // as a refused credential, not as a failed handshake.
  std::string client_authority;
};

class tls_identity {
 public:
  // The error says in one line what is wrong with the material.
  static tl::expected<std::unique_ptr<tls_identity>, std::string> make(
      const tls_material& material);

  tl::expected<void, std::string> replace(const tls_material& material);

  // TLS 1.2 and 1.3, ALPN h2 and http/1.1, no session cache, no tickets, no renegotiation.
  std::shared_ptr<ssl_ctx_st> context() const;

 private:
  tls_identity() = default;
  mutable std::mutex mutex_;
  std::shared_ptr<ssl_ctx_st> context_;
};

}  // namespace troupe::server
