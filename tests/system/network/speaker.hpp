// Servers and clients of a test in network namespaces, to see which connections work.
#pragma once

#include <chrono>
#include <string>
#include <thread>

#include "runtime/unique_fd.hpp"
#include "system/network/network_space.hpp"

namespace troupe::test {

// Listens on port 8080. Sends its name to everyone who connects; over UDP (SOCK_DGRAM) in reply to
// each datagram.
class speaker {
 public:
  speaker(const network_space& in, std::string name, int type, const std::string& at = "0.0.0.0");
  ~speaker();
  speaker(const speaker&) = delete;
  speaker& operator=(const speaker&) = delete;

 private:
  bool greet() const;
  bool answer() const;

  const std::string name_;
  runtime::unique_fd fd_;
  std::thread thread_;
};

// The name of the server that answers there over TCP; "refused" or "dropped" if none does.
// `source`: the client's address; empty: the kernel selects it.
std::string call(const network_space& from, const std::string& host, int port,
                 std::chrono::milliseconds limit = std::chrono::seconds{60},
                 const std::string& source = {});

// A client that keeps sending over UDP, from one port.
class udp_client {
 public:
  udp_client(const network_space& from, const std::string& host, int port);
  std::string call() const;

 private:
  runtime::unique_fd fd_;
};

}  // namespace troupe::test
