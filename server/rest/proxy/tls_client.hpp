// TLS with a pod, over bytes that others carry. Certificates are not verified, as upstream does
// not: pods have none that anybody could vouch for. Belongs to one actor.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace troupe::server {

class tls_client {
 public:
  tls_client();
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
