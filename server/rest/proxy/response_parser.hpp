// Parses the response to one HTTP/1.1 request from a pod, which is not trusted. Uses Boost.Beast's
// parser and adds bounds on the head. Belongs to one actor.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace troupe::server {

struct backend_head {
  int status = 0;
  std::vector<std::pair<std::string, std::string>> fields = {};  // names in lower case
};

class response_parser {
 public:
  // `to_head`: the request is a HEAD, so the response has no body, whatever its fields say.
  explicit response_parser(bool to_head);
  ~response_parser();

  // Consumes all bytes; returns an error, after which nothing more can be parsed.
  std::optional<std::string> feed(std::string_view bytes);
  // The connection has ended; returns an error if the response is incomplete.
  std::optional<std::string> end();

  // Null until it is complete. Skips interim responses (1xx) except 101.
  const backend_head* head() const noexcept;
  // The body received since the last call. After 101: bytes of the other protocol.
  std::string take_body();
  bool complete() const noexcept;

 private:
  struct impl;
  std::unique_ptr<impl> impl_;
};

}  // namespace troupe::server
