// The port that a listener is called at: accepts TCP connections, counts them, hands them on, and
// cuts those that do not get through their handshake in time.
//
// One thread of its own. gRPC owns a connection from `connected` on; the doorway keeps a second
// descriptor of its socket, so that it hears when the connection is over and can cut it before.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <tl/expected.hpp>

#include "runtime/link/link.hpp"

namespace troupe::runtime::link {

class doorway {
 public:
  struct options {
    address listen;
    std::size_t connections = 0;
    // Takes the descriptor of a new connection, on the doorway's thread.
    std::function<void(int descriptor)> connected;
  };

  // Takes the port. Nobody is let in before `start`.
  static tl::expected<std::unique_ptr<doorway>, std::string> open(options given);
  ~doorway();
  void start();
  // Nobody is let in any more; those inside stay. Once, by whoever started it.
  void close();

  address where() const;
  // A connection from there (host and port) has got through its handshake, or is to begin anew:
  // again it has `handshake_limit` to do so. Any thread.
  void settled(const std::string& from, bool is_settled);

 private:
  class impl;
  explicit doorway(std::unique_ptr<impl> made);
  std::unique_ptr<impl> impl_;
};

}  // namespace troupe::runtime::link
