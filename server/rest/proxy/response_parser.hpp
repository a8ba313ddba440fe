// Reads the answer to one HTTP/1.1 request out of bytes from a pod, which is not trusted.
// Boost.Beast's parser is inside; the bounds on the head are added here. Belongs to one actor.
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
  // `to_head`: the request is a HEAD, so its answer has no body whatever its fields say.
  explicit response_parser(bool to_head);
  ~response_parser();

  // Takes all of it; says what is wrong with it: then nothing more can be read.
  std::optional<std::string> feed(std::string_view bytes);
  // The connection has ended; says what is missing, if anything.
  std::optional<std::string> end();

  // Null until it has come. Interim answers (1xx) are left out, but for 101.
  const backend_head* head() const noexcept;
  // What has come of the body since the last call. After 101: of the other protocol.
  std::string take_body();
  bool complete() const noexcept;

 private:
  struct impl;
  std::unique_ptr<impl> impl_;
};

}  // namespace troupe::server
