// The server from which joining machines get the sealed keys: HTTPS on a port of its own, with the
// member's certificate. A client must present a token (join_tokens.hpp).
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <tl/expected.hpp>

#include "server/http/endpoint.hpp"

namespace troupe::tools {

class member_keys;

inline constexpr std::string_view member_join_path = "/troupe/v1/etcd/members";

class join_server {
 public:
  static tl::expected<std::unique_ptr<join_server>, std::string> listen(
      const std::filesystem::path& data_dir, const server::endpoint& at, const member_keys& keys);
  ~join_server();

  // Uses the new keys after a renewal.
  tl::expected<void, std::string> replace(const member_keys& keys);

 private:
  struct impl;
  explicit join_server(std::unique_ptr<impl> made);
  std::unique_ptr<impl> impl_;
};

}  // namespace troupe::tools
