// A client of a node: the user's credentials, TLS that knows the cluster's authority, one
// connection that is kept. Every request has a time-out; one thread.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "server/kubeconfig.hpp"
#include "tools/cluster_client.hpp"

namespace troupe::tools {

class https_client final : public cluster_client {
 public:
  // The error is one line: what is wrong with the address or the keys.
  static tl::expected<std::unique_ptr<https_client>, std::string> make(
      const server::cluster_access& where);
  ~https_client() override;

  tl::expected<client_answer, std::string> call(const client_request& what) override;

  // Hands on each part of an endless answer as it comes, until `take` is false or the server ends
  // it. An answer other than 200 is given back whole.
  tl::expected<client_answer, std::string> follow(
      const std::string& path, const std::function<bool(std::string_view)>& take);

 private:
  struct impl;
  explicit https_client(std::unique_ptr<impl> made);
  std::unique_ptr<impl> impl_;
};

}  // namespace troupe::tools
