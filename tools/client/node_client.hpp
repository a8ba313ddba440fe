// A client of a node: over TLS with the user's credentials and the cluster's authority, or at the
// node's socket in the file system. It keeps one connection; every request has a time-out. Used by
// one thread, except for `cancel`.
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
  // The error is one line: what is wrong with the address or the keys.
  static tl::expected<std::unique_ptr<node_client>, std::string> make(
      const server::cluster_access& access);
  // At server/connections/local_socket.hpp's file; nothing is tried before the first request.
  static std::unique_ptr<node_client> at(const std::filesystem::path& socket);
  ~node_client() override;

  tl::expected<client_answer, std::string> call(const client_request& request) override;

  // Hands on each part of an endless answer as it comes, until `take` is false or the server ends
  // it. An answer other than 200 is given back whole.
  tl::expected<client_answer, std::string> follow(
      const std::string& path, const std::function<bool(std::string_view)>& take);

  // From another thread: a request under way fails as soon as it has a connection to lose. Repeat
  // it until the request has ended.
  void cancel() noexcept;

 private:
  struct impl;
  explicit node_client(std::unique_ptr<impl> made);
  std::unique_ptr<impl> impl_;
};

}  // namespace troupe::tools
