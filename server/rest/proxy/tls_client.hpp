// TLS with a server, over bytes that others carry. Belongs to one actor.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <tl/expected.hpp>

#include "server/credentials/x509.hpp"

struct ssl_ctx_st;

namespace troupe::server {

// What is expected of servers and shown to them; for many connections, from any thread.
using tls_context = std::shared_ptr<ssl_ctx_st>;

struct tls_client_options {
  // False: of whomever. Else the server's certificate is to be of `authority`: PEM; empty: of any
  // authority that the machine trusts.
  bool verify = false;
  std::string authority = {};
  x509::identity shown = {};  // empty: none
};
// The error is one line in Go's words.
tl::expected<tls_context, std::string> make_client_context(const tls_client_options& options);

class tls_client {
 public:
  // With a pod. Certificates are not verified, as upstream does not: pods have none that anybody
  // could vouch for.
  tls_client();
  // `server_name`: which the certificate must have, where it is verified.
  tls_client(tls_context context, const std::string& server_name);
  ~tls_client();

  struct received {
    std::string plain = {};
    bool ended = false;                       // the other side has said so
    std::optional<std::string> problem = {};  // then nothing more can be read
  };
  received receive(std::string_view encrypted);
  // Not before ready().
  void send(std::string_view plain);
  // What is to be carried to the other side, from the beginning on.
  std::string take();
  // The handshake is done.
  bool ready() const noexcept;

 private:
  struct impl;
  std::unique_ptr<impl> impl_;
};

}  // namespace troupe::server
