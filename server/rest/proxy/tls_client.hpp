// A TLS client over bytes that its owner transfers. Belongs to one actor.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <tl/expected.hpp>

#include "server/credentials/x509.hpp"

struct ssl_ctx_st;

namespace troupe::server {

// Verification and client certificate, for many connections. Thread safe.
using tls_context = std::shared_ptr<ssl_ctx_st>;

struct tls_client_options {
  // False: any certificate is accepted. Else the server's certificate must be signed by `authority`
  // (PEM); empty: by an authority that the machine trusts.
  bool verify = false;
  std::string authority = {};
  x509::identity shown = {};  // client certificate; empty: none
};
// The error is one line in Go's wording.
tl::expected<tls_context, std::string> make_client_context(const tls_client_options& options);

class tls_client {
 public:
  // For a pod. Certificates are not verified, as upstream: pods have no verifiable
  // ones.
  tls_client();
  // `server_name`: the name that a verified certificate must have.
  tls_client(tls_context context, const std::string& server_name);
  ~tls_client();

  struct received {
    std::string plain = {};
    bool ended = false;                       // the server has closed its side
    std::optional<std::string> problem = {};  // then nothing more can be read
  };
  received receive(std::string_view encrypted);
  // Requires ready().
  void send(std::string_view plain);
  // The bytes to send to the server; call it from the beginning on.
  std::string take();
  // The handshake is done.
  bool ready() const noexcept;

 private:
  struct impl;
  std::unique_ptr<impl> impl_;
};

}  // namespace troupe::server
