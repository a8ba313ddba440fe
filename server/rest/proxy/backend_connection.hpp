// A connection with a port behind the cluster, with TLS or without. It belongs to one actor, which
// gets the messages below and hands each to its function here.
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

  // Answers once, on any thread.
  std::function<void(std::function<void(answer)> done)> open;
  std::string host;  // what the port itself would call it: "10.0.0.1:80"
  bool tls = false;
  // Of TLS; null: with whomever.
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

  // `owner` gets the messages.
  void open(const runtime::actor_ref& owner);
  // Says why it cannot be had.
  std::optional<std::string> take(const backend_opened& m);

  struct part {
    std::string bytes = {};
    bool ended = false;
    std::optional<std::string> problem = {};
  };
  part take(const backend_read& m);
  // False: the port takes no more.
  bool take(const backend_written& m);

  // Bytes may go: it is open, and the handshake is done.
  bool ready() const noexcept { return port_ && (!tls_ || tls_->ready()); }
  // Nothing is being written, and more is taken.
  bool idle() const noexcept { return port_ && !writing_ && !deaf_; }
  // Asks for the next part, unless that is under way.
  void read();
  // Where idle. `plain` is empty before ready(): then the handshake goes on.
  void write(std::string plain);

 private:
  const proxy_target target_;
  runtime::actor_ref owner_;
  std::unique_ptr<actors::port_stream> port_;
  std::unique_ptr<tls_client> tls_;  // null: not asked for
  bool reading_ = false, writing_ = false, deaf_ = false;
};

}  // namespace troupe::server
