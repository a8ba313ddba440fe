// An authority for the tests of the room, and its certificates: ECDSA P-256, PEM.
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "runtime/link/link.hpp"

namespace troupe::test {

struct leaf {
  std::string name;
  std::vector<std::string> groups = {};
  // "DNS:localhost", "IP:127.0.0.1"
  std::vector<std::string> called = {};
  // How long it is valid, from now.
  std::chrono::seconds lifetime = std::chrono::hours{1};
};

class authority {
 public:
  explicit authority(const std::string& name);
  ~authority();

  runtime::link::credentials issue(const leaf& leaf) const;
  const std::string& certificate() const;

 private:
  struct impl;
  const std::unique_ptr<impl> impl_;
};

}  // namespace troupe::test
