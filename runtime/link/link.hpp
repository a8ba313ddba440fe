// A link between two machines: frames both ways over one gRPC stream under mutual TLS.
//
// It does not read frames: a receiver stands at each end (in actors/link/ the gateways
// that stand for the actors of the other side). Flow is bounded both ways: what was received holds
// its room in a window until the receiver lets go of it, and a full window stops the peer through
// HTTP/2's flow control; what cannot be sent is refused at `send`. A peer that is slow costs the
// outbox and delays nobody else.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <tl/expected.hpp>
#include <vector>

#include "runtime/clock.hpp"
#include "runtime/link/refusal.hpp"

namespace troupe::runtime::link {

// The other end, from its verified certificate.
struct peer {
  std::string name;                 // subject CN
  std::vector<std::string> groups;  // subject O
  std::string key_hash;             // "sha256:" and the hash of the public key (SPKI, DER) in hex
  std::string address;              // where it called from, or was called at
};

// A frame that was received. The room it takes in the window is given back when it is destroyed,
// on any thread.
class delivery {
 public:
  delivery(std::string bytes, std::shared_ptr<void> room)
      : bytes_{std::move(bytes)}, room_{std::move(room)} {}

  const std::string& bytes() const noexcept { return bytes_; }

 private:
  std::string bytes_;
  std::shared_ptr<void> room_;
};

struct session_stats {
  std::uint64_t frames_sent = 0, frames_received = 0;
  std::uint64_t bytes_sent = 0, bytes_received = 0;
  std::size_t outbox_bytes = 0;  // waiting to be sent
  std::size_t window_bytes = 0;  // received, not let go of
  time_point since{};
};

// One connection of a link, from its agreement to its end. Thread safe.
class session {
 public:
  virtual ~session() = default;

  // Queues a frame; those that wait go together. False when `outbox_limit_bytes` are waiting, when
  // the frame is above `frame_limit_bytes`, or after the end.
  virtual bool send(std::string frame) = 0;
  // Ends it after the queued frames, or after `defaults::linger`; the peer is told the reason, one
  // line. Idempotent.
  virtual void close(std::string reason) = 0;

  virtual const peer& other() const = 0;
  virtual session_stats stats() const = 0;
};

using session_ptr = std::shared_ptr<session>;

// One receiver a session. Called on the link's threads, one call at a time, in order; must not
// block. The link lets go of it after `ended`.
class receiver {
 public:
  virtual ~receiver() = default;
  virtual void received(delivery frame) = 0;
  // The last call, with the reason in one line.
  virtual void ended(const std::string& reason) = 0;
};

// Gives a new session its receiver, or an error in one line: the peer reads it as the reason of the
// refusal. Must not block.
using acceptor =
    std::function<tl::expected<std::shared_ptr<receiver>, std::string>(const session_ptr&)>;

// PEM texts; asked for at each handshake, so that renewed ones are used from then on.
struct credentials {
  std::string certificate;
  std::string private_key;
  std::string authority;  // signs the other side
};
using credentials_source = std::function<credentials()>;

struct address {
  std::string host;
  std::uint16_t port = 0;
};

// The server side. A connection without a certificate of the authority is closed and costs nothing
// else; at most `connections` are held, handshakes included.
struct listener_options {
  address listen;
  credentials_source credentials;
  acceptor accept;
  std::size_t connections = 5'000;
  // Told of each connection that came to no session, on the link's threads and without a lock of
  // this room; must not block. May be empty.
  std::function<void(const refusal&)> refused = {};
};

class listener {
 public:
  // An error when the address cannot be had, or the module (transport.hpp) not loaded.
  static tl::expected<std::unique_ptr<listener>, std::string> start(listener_options options);
  // Ends all sessions; nothing is called after it returns.
  virtual ~listener() = default;
  // The address in use; with port 0 in the options, the port that the system chose.
  virtual link::address address() const = 0;
  // Any thread.
  virtual listener_stats stats() const = 0;
};

// The client side: keeps one session, and dials again after its end with back-off and jitter
// (`defaults::redial_first` doubling to `defaults::redial_limit`) until it is destroyed.
struct dialer_options {
  address to;
  credentials_source credentials;
  acceptor accept;
  // Told of each attempt that failed and of each refusal by the other side, in one line.
  std::function<void(const std::string& reason)> failed;
};

class dialer {
 public:
  // An error when the module (transport.hpp) cannot be loaded; all others go to `failed`.
  static tl::expected<std::unique_ptr<dialer>, std::string> start(dialer_options options);
  // Ends the session; nothing is called after it returns.
  virtual ~dialer() = default;
};

// Two ends of a link within one process, without threads: a frame is received within `send`, or as
// soon as the call returns that its receiver is in, or the window has room. For simulations. `one`
// calls: `at_other` is asked first, and when it refuses nobody else is. `cut` ends both as a lost
// connection does. Sessions and receivers hold each other until the end.
struct loopback {
  session_ptr one, other;
  std::function<void()> cut;
};
loopback make_loopback(const peer& one, const acceptor& at_one, const peer& other,
                       const acceptor& at_other);

}  // namespace troupe::runtime::link
