// The acceptor of a listener: accepts TCP connections, limits their number, passes them to gRPC,
// and closes those whose handshake takes too long.
//
// It has its own thread. gRPC owns a connection after `connected`; the acceptor keeps a duplicate
// of its descriptor to detect its end and to close it earlier. Each connection that does not become
// a session is counted by reason.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <tl/expected.hpp>

#include "runtime/link/link.hpp"

struct epoll_event;

namespace troupe::runtime::link {

class connection_acceptor {
 public:
  struct options {
    link::address listen;
    std::size_t connections = 0;
    // Receives the descriptor of a new connection, on the acceptor's thread.
    std::function<void(int descriptor)> connected;
    // See listener_options::refused.
    std::function<void(const refusal&)> refused;
    // Adds a descriptor to an epoll set, false if the kernel refuses; null: epoll_ctl. For tests.
    bool (*watch)(int epoll, int descriptor, epoll_event& event) = nullptr;
  };

  // Binds the port. Accepts no connection before `start`.
  static tl::expected<std::unique_ptr<connection_acceptor>, std::string> open(options options);
  ~connection_acceptor();
  void start();
  // Stops accepting; open connections stay. Call once, on the thread that called start().
  void close();

  link::address address() const;
  // The connection from this host and port has completed its handshake, or (false) begins a new one
  // with its own `handshake_limit`. Any thread.
  void settled(const std::string& from, bool is_settled);
  // A call from this host and port was rejected with this reason in one line. Any thread.
  void refused(const std::string& from, const std::string& detail);
  listener_stats stats() const;

 private:
  class impl;
  explicit connection_acceptor(std::unique_ptr<impl> made);
  std::unique_ptr<impl> impl_;
};

}  // namespace troupe::runtime::link
