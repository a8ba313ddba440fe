// A client of a node: over TLS with the user's credentials and the cluster's authority, or over the
// node's Unix socket. It keeps one connection; every request has a time-out. Used by one thread,
// except for `cancel`.
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "server/credentials/kubeconfig.hpp"
#include "tools/client/cluster_client.hpp"

namespace troupe::tools {

class node_client final : public cluster_client {
 public:
  // The error is one line: the problem with the address or the keys.
  static tl::expected<std::unique_ptr<node_client>, std::string> make(
      const server::cluster_access& access);
  // Uses the socket of server/connections/local_socket.hpp; connects with the first request.
  static std::unique_ptr<node_client> at(const std::filesystem::path& socket);
  ~node_client() override;

  tl::expected<client_answer, std::string> call(const client_request& request) override;

  // Passes on each part of a streamed response as it arrives, until `take` returns false or the
  // server ends the stream. A response other than 200 is returned whole.
  tl::expected<client_answer, std::string> follow(
      const std::string& path, const std::function<bool(std::string_view)>& take);

  // From another thread: a request in progress fails as soon as it has a connection to close.
  // Repeat the call until the request has ended.
  void cancel() noexcept;

 private:
  struct impl;
  explicit node_client(std::unique_ptr<impl> made);
  std::unique_ptr<impl> impl_;
};

}  // namespace troupe::tools
