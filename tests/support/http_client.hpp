// A simple HTTP/1.1 client for tests: one request at a time, everything blocking and bounded by the
// wire's time-out.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "support/wire.hpp"

namespace troupe::test {

struct http_answer {
  int status = 0;  // 0: no answer, or not HTTP
  // Names in lower case; what comes several times is joined by ", ".
  std::map<std::string, std::string> headers;
  std::string body;
  std::string header(const std::string& name) const;
};

class http_client {
 public:
  using fields = std::map<std::string, std::string>;

  explicit http_client(const wire_options& options) : wire_{options} {}

  http_answer get(const std::string& path, const fields& headers = {});
  http_answer request(const std::string& method, const std::string& path,
                      const std::string& body = {}, const fields& headers = {});

  // -- by hand ----------------------------------------------------------------------------------
  void send_request(const std::string& method, const std::string& path,
                    const std::string& body = {}, const fields& headers = {});
  // The next answer with its whole body.
  http_answer receive_answer(bool has_body = true);
  // The next answer without its body, which next_chunk() then reads.
  http_answer receive_head();
  // A chunk of a chunked body; nullopt at its end, and when the connection ends or is silent.
  std::optional<std::string> next_chunk();

  // What has come behind what was read so far; empty when the connection ends or is silent.
  std::string receive_some();
  // As they come behind what was read so far; fewer when the connection ends or is silent.
  std::string receive_exactly(std::size_t size);

  wire& connection() noexcept { return wire_; }

 private:
  bool read_more();
  std::optional<std::string> read_line();

  wire wire_;
  std::string unread_;
};

}  // namespace troupe::test
