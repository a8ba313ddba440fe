// The console's client of a node: sends requests in the form that the node's console accepts. Used
// by one thread, except for `cancel`.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <tl/expected.hpp>
#include <utility>

#include "tools/client/node_client.hpp"

namespace troupe::tools {

struct console_request {
  std::string path;  // after /console/api/
  std::map<std::string, std::string> query;
  bool changes = false;  // POST; needs the right to control
};

class console_client {
 public:
  // The error is one line: the problem with the address or the keys.
  static tl::expected<std::unique_ptr<console_client>, std::string> make(
      const server::cluster_access& access);
  // A client of the node that runs in this data directory, as the administrator of its machine.
  static std::unique_ptr<console_client> at(const std::filesystem::path& data_dir);

  // The body, or the server's error message.
  tl::expected<std::string, std::string> ask(const console_request& request);
  // Passes on each part of a streamed response as it arrives, until `take` returns false or the
  // server ends the stream.
  tl::expected<void, std::string> follow(const console_request& request,
                                         const std::function<bool(std::string_view)>& take);
  // See node_client.
  void cancel() noexcept { http_->cancel(); }

 private:
  explicit console_client(std::unique_ptr<node_client> http) : http_{std::move(http)} {}

  std::unique_ptr<node_client> http_;
};

}  // namespace troupe::tools
