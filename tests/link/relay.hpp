// A TCP relay between the two sides of a link: a network that a test can cut, freeze and restore.
#pragma once

#include <cstdint>
#include <memory>

#include "runtime/link/link.hpp"

namespace troupe::test {

class relay {
 public:
  explicit relay(runtime::link::address to);
  ~relay();

  runtime::link::address listens_at() const;
  // Closes all connections.
  void cut();
  // Forwards nothing any more, without closing connections; new ones are accepted and stay silent.
  void freeze();
  // Forwards again; connections that were open while it was frozen are closed.
  void heal();
  std::size_t connections() const;

 private:
  struct impl;
  const std::unique_ptr<impl> impl_;
};

}  // namespace troupe::test
