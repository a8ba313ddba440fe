// A simple HTTP/2 client for tests: requests are started, then run() carries all of them on until
// what the caller waits for has come. Not thread safe.
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

  // ALPN "h2" is offered whatever the options say. `window_bytes`: of each stream; 0: the default.
  explicit http2_client(wire_options options, std::uint32_t window_bytes = 0);
  ~http2_client();
  http2_client(const http2_client&) = delete;
  http2_client& operator=(const http2_client&) = delete;

  // The id of the stream; its exchange fills while run() runs. A body that a content-length
  // announces and that is empty never comes.
  std::int32_t start(const std::string& method, const std::string& path, std::string body = {},
                     const http_client::fields& headers = {});
  const exchange& at(std::int32_t id) { return exchanges_[id]; }
  void reset(std::int32_t id);

  // Sends and receives until `done` or the end of the connection or the time-out; what done() said.
  bool run(const std::function<bool()>& done);
  // start() and run() to its end.
  http_answer request(const std::string& method, const std::string& path, std::string body = {},
                      const http_client::fields& headers = {});

  bool goaway_received() const noexcept { return goaway_; }
  std::uint32_t goaway_code() const noexcept { return goaway_code_; }
  bool ping();  // true when the answer came
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
