// A simple HTTP/1.1 client for tests: one request at a time, every call blocks, bounded by the
// wire's time-out.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "support/wire.hpp"

namespace troupe::test {

struct http_answer {
  int status = 0;  // 0: no response, or not HTTP
  // Names in lower case; repeated headers are joined by ", ".
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

  // -- step by step -----------------------------------------------------------------------------
  void send_request(const std::string& method, const std::string& path,
                    const std::string& body = {}, const fields& headers = {});
  // The next response with its whole body.
  http_answer receive_answer(bool has_body = true);
  // The next response without its body, which next_chunk() then reads.
  http_answer receive_head();
  // A chunk of a chunked body; nullopt after the last one, at the connection's end, or on time-out.
  std::optional<std::string> next_chunk();

  // The next available bytes; empty at the end of the connection or at the time-out.
  std::string receive_some();
  // The next `size` bytes; fewer at the end of the connection or at the time-out.
  std::string receive_exactly(std::size_t size);

  wire& connection() noexcept { return wire_; }

 private:
  bool read_more();
  std::optional<std::string> read_line();

  wire wire_;
  std::string unread_;
};

}  // namespace troupe::test
