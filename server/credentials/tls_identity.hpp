// The certificates and the client authority of a TLS listener. They may be replaced while it
// serves: new connections use the new ones. Thread safe.
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <tl/expected.hpp>

struct ssl_ctx_st;

namespace troupe::server {

// Texts in PEM form.
struct tls_material {
  std::string certificates;  // the server's own first, then intermediates
  std::string private_key;
  // The authority for client certificates, which are optional. A certificate signed by another
  // authority is a refused credential, not a failed handshake.
  std::string client_authority;
};

class tls_identity {
 public:
  // The error is one line that describes the problem.
  static tl::expected<std::unique_ptr<tls_identity>, std::string> make(
      const tls_material& material);

  tl::expected<void, std::string> replace(const tls_material& material);

  // TLS 1.2 and 1.3, ALPN h2 and http/1.1, no session cache, tickets or renegotiation.
  std::shared_ptr<ssl_ctx_st> context() const;

 private:
  tls_identity() = default;
  mutable std::mutex mutex_;
  std::shared_ptr<ssl_ctx_st> context_;
};

}  // namespace troupe::server
