// The port of a listener: accepts TCP connections, counts them, hands them on, and
// cuts those whose handshake takes too long.
//
// One thread of its own. gRPC owns a connection from `connected` on; the acceptor keeps a second
// descriptor of its socket, to see the end of the connection and to cut it before. Each connection
// that comes to no session is counted by its reason.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <tl/expected.hpp>

#include "runtime/link/link.hpp"

namespace troupe::runtime::link {

class connection_acceptor {
 public:
  struct options {
    link::address listen;
    std::size_t connections = 0;
    // Takes the descriptor of a new connection, on the acceptor's thread.
    std::function<void(int descriptor)> connected;
    // As listener_options::refused.
    std::function<void(const refusal&)> refused;
  };

  // Takes the port. Nothing is accepted before `start`.
  static tl::expected<std::unique_ptr<connection_acceptor>, std::string> open(options options);
  ~connection_acceptor();
  void start();
  // Accepts no more; established connections stay. Once, by the thread that started it.
  void close();

  link::address address() const;
  // A connection from there (host and port) has got through its handshake, or starts it again
  // and has `handshake_limit` for it. Any thread.
  void settled(const std::string& from, bool is_settled);
  // A call from there was refused, for that reason in one line. Any thread.
  void refused(const std::string& from, const std::string& detail);
  listener_stats stats() const;

 private:
  class impl;
  explicit connection_acceptor(std::unique_ptr<impl> made);
  std::unique_ptr<impl> impl_;
};

}  // namespace troupe::runtime::link
