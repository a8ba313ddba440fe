// A link between two machines: frames in both directions over one gRPC stream with mutual TLS.
//
// The link does not parse frames: a receiver at each end does (the gateways in actors/link/, which
// represent the remote actors). Both directions are bounded: received frames occupy the window
// until the receiver releases them, and a full window stops the peer through HTTP/2's flow control;
// frames that exceed the outbox are rejected by `send`. A slow peer costs the outbox and delays
// nobody else.
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

// The peer, from its verified certificate.
struct peer {
  std::string name;                 // subject CN
  std::vector<std::string> groups;  // subject O
  std::string key_hash;             // "sha256:" and the hash of the public key (SPKI, DER) in hex
  std::string address;              // its address: that of the caller, or the dialed one
};

// A received frame. Destroying it, on any thread, releases its room in the
// window.
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
  std::size_t window_bytes = 0;  // received, not yet released
  time_point since{};
};

// One connection of a link, from the accepted hello to its end. Thread safe.
class session {
 public:
  virtual ~session() = default;

  // Queues a frame; queued frames are sent together. Returns false if `outbox_limit_bytes` are
  // queued, the frame is larger than `frame_limit_bytes`, or the session has ended.
  virtual bool send(std::string frame) = 0;
  // Closes the session after the queued frames were sent, or after `defaults::linger`; the peer
  // gets the reason, one line. Idempotent.
  virtual void close(std::string reason) = 0;

  virtual const peer& other() const = 0;
  virtual session_stats stats() const = 0;
};

using session_ptr = std::shared_ptr<session>;

// Receives the frames of one session. Called on the link's threads, one call at a time, in order;
// must not block. The link releases it after `ended`.
class receiver {
 public:
  virtual ~receiver() = default;
  virtual void received(delivery frame) = 0;
  // The last call, with the reason in one line.
  virtual void ended(const std::string& reason) = 0;
};

// Returns the receiver for a new session, or an error in one line, which is sent to the peer. Must
// not block.
using acceptor =
    std::function<tl::expected<std::shared_ptr<receiver>, std::string>(const session_ptr&)>;

// PEM texts; read at each handshake, so that renewed certificates take effect.
struct credentials {
  std::string certificate;
  std::string private_key;
  std::string authority;  // the CA of the peer's certificate
};
using credentials_source = std::function<credentials()>;

struct address {
  std::string host;
  std::uint16_t port = 0;

  friend bool operator==(const address&, const address&) = default;
};

// The server side. A connection without a certificate of the CA is closed without further cost; at
// most `connections` are open, including handshakes.
struct listener_options {
  address listen;
  credentials_source credentials;
  acceptor accept;
  std::size_t connections = 5'000;
  // Called for each connection that did not become a session, on the link's threads and without a
  // lock of this room; must not block. May be empty.
  std::function<void(const refusal&)> refused = {};
};

class listener {
 public:
  // Returns an error if it cannot bind the address or load the module (transport.hpp).
  static tl::expected<std::unique_ptr<listener>, std::string> start(listener_options options);
  // Ends all sessions; no callback runs after it returns.
  virtual ~listener() = default;
  // The bound address; with port 0 in the options, the port that the system chose.
  virtual link::address address() const = 0;
  // Callable on any thread.
  virtual listener_stats stats() const = 0;
};

// The client side: keeps one session, and reconnects after its end with back-off and jitter
// (`defaults::redial_first` doubling to `defaults::redial_limit`) until it is destroyed.
struct dialer_options {
  address to;
  credentials_source credentials;
  acceptor accept;
  // Called with each failed attempt and each rejection by the server, in one line.
  std::function<void(const std::string& reason)> failed;
  // If set, called before each attempt in place of `to`: returns equivalent addresses. They are
  // tried in turn, the last used one last, and the back-off grows after each was tried once. Empty:
  // called again later. Runs on the link's threads, must not block.
  std::function<std::vector<address>()> addresses = {};
};

class dialer {
 public:
  // Returns an error if the module (transport.hpp) cannot be loaded; other errors go to `failed`.
  static tl::expected<std::unique_ptr<dialer>, std::string> start(dialer_options options);
  // Ends the session; no callback runs after it returns.
  virtual ~dialer() = default;
};

}  // namespace troupe::runtime::link
