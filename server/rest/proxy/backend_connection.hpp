// A connection to a port in the cluster, with or without TLS. It belongs to one actor, which
// receives the messages below and passes each to the matching take().
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <tl/expected.hpp>

#include "actors/kubelet/runtime/streams.hpp"
#include "runtime/actor_ref.hpp"
#include "server/rest/proxy/tls_client.hpp"

namespace troupe::server {

struct proxy_target {
  using answer = tl::expected<std::unique_ptr<actors::port_stream>, std::string>;

  // Calls `done` once, on any thread.
  std::function<void(std::function<void(answer)> done)> open;
  std::string host;  // host of the port: "10.0.0.1:80"
  bool tls = false;
  // For TLS; null: the server's certificate is not verified.
  tls_context context = {};
  std::string server_name = {};
};

struct backend_opened {
  std::shared_ptr<proxy_target::answer> result;
};
struct backend_read {
  std::string bytes;
};
struct backend_written {
  bool taken = false;
};

class backend_connection {
 public:
  explicit backend_connection(proxy_target target) : target_{std::move(target)} {}

  const proxy_target& target() const noexcept { return target_; }

  // `owner` receives the messages.
  void open(const runtime::actor_ref& owner);
  // Returns the reason if the connection failed.
  std::optional<std::string> take(const backend_opened& m);

  struct part {
    std::string bytes = {};
    bool ended = false;
    std::optional<std::string> problem = {};
  };
  part take(const backend_read& m);
  // Returns false if the port accepts no more data.
  bool take(const backend_written& m);

  // Data may be sent: the connection is open, and the handshake is done.
  bool ready() const noexcept { return port_ && (!tls_ || tls_->ready()); }
  // No write is in progress, and the port accepts data.
  bool idle() const noexcept { return port_ && !writing_ && !refuses_input_; }
  // Requests the next part, unless a read is in progress.
  void read();
  // Requires idle(). `plain` is empty before ready(): the handshake then continues.
  void write(std::string plain);

 private:
  const proxy_target target_;
  runtime::actor_ref owner_;
  std::unique_ptr<actors::port_stream> port_;
  std::unique_ptr<tls_client> tls_;  // null: no TLS
  bool reading_ = false, writing_ = false, refuses_input_ = false;
};

}  // namespace troupe::server
