// A listening socket: accepts connections and distributes them among the workers. Lives on one I/O
// thread.
#pragma once

#include <sys/socket.h>

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <tl/expected.hpp>
#include <vector>

#include "runtime/unique_fd.hpp"
#include "server/connections/event_loop.hpp"
#include "server/connections/http_server.hpp"
#include "server/connections/io_worker.hpp"

namespace troupe::server {

// An open listening socket and its actual endpoint.
struct bound_socket {
  runtime::unique_fd descriptor;
  server::endpoint endpoint;
  std::filesystem::path file = {};  // of a Unix socket; removed with it
};
// The error is one line for the user.
tl::expected<bound_socket, std::string> bind_socket(const endpoint& endpoint);

class listener final : public event_loop::source {
 public:
  // Takes ownership of the socket.
  listener(bound_socket socket, std::shared_ptr<const site> site,
           std::vector<std::unique_ptr<io_worker>>& workers, std::size_t connection_limit,
           http_counters& counters);
  ~listener() override;

  int descriptor() const noexcept { return descriptor_.get(); }
  void on_events(std::uint32_t events) override;
  // Accepts connections that were left when descriptors ran out.
  void on_tick();

 private:
  void accept_pending();
  void take(runtime::unique_fd accepted, const sockaddr_storage& peer);

  const runtime::unique_fd descriptor_;
  const std::filesystem::path file_;
  const std::shared_ptr<const site> site_;
  std::vector<std::unique_ptr<io_worker>>& workers_;
  const std::size_t connection_limit_;
  http_counters& counters_;
  bool short_of_descriptors_ = false;
  bool turn_due_ = false;  // deferred in the loop
};

}  // namespace troupe::server
