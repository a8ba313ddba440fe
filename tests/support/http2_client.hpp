// A simple HTTP/2 client for tests: start() starts requests, run() advances all of them until the
// caller's condition is true. Not thread safe.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>

#include "support/http_client.hpp"
#include "support/wire.hpp"

struct nghttp2_session;

namespace troupe::test {

class http2_client {
 public:
  struct exchange {
    http_answer answer;
    bool ended = false;            // the server has ended the stream
    std::uint32_t error_code = 0;  // of RST_STREAM
    bool reset = false;            // by the server
  };

  // Always offers ALPN "h2". `window_bytes`: of each stream; 0: the default.
  explicit http2_client(wire_options options, std::uint32_t window_bytes = 0);
  ~http2_client();
  http2_client(const http2_client&) = delete;
  http2_client& operator=(const http2_client&) = delete;

  // Returns the id of the stream; run() fills its exchange. If a content-length announces a body
  // and `body` is empty, no body is sent.
  std::int32_t start(const std::string& method, const std::string& path, std::string body = {},
                     const http_client::fields& headers = {});
  const exchange& at(std::int32_t id) { return exchanges_[id]; }
  void reset(std::int32_t id);

  // Sends and receives until `done`, the end of the connection or the time-out; returns done().
  bool run(const std::function<bool()>& done);
  // start() and run() until it is complete.
  http_answer request(const std::string& method, const std::string& path, std::string body = {},
                      const http_client::fields& headers = {});

  bool goaway_received() const noexcept { return goaway_; }
  std::uint32_t goaway_code() const noexcept { return goaway_code_; }
  bool ping();  // true when the response arrived
  wire& connection() noexcept { return wire_; }

 private:
  friend struct http2_client_callbacks;
  bool flush();

  wire wire_;
  nghttp2_session* session_ = nullptr;
  std::map<std::int32_t, exchange> exchanges_;
  std::map<std::int32_t, std::string> bodies_;
  bool goaway_ = false;
  std::uint32_t goaway_code_ = 0;
  bool pong_ = false;
};

}  // namespace troupe::test
