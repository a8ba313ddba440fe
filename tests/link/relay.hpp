// A TCP relay between the two sides of a link: the network that a test can cut, freeze and heal.
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
  // Nothing passes any more, and nobody is told; new connections are taken and stay silent.
  void freeze();
  // As before; those that were open while it was frozen are closed.
  void heal();
  std::size_t connections() const;

 private:
  struct impl;
  const std::unique_ptr<impl> impl_;
};

}  // namespace troupe::test
