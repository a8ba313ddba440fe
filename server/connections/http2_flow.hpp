// One stream of an HTTP/2 connection: a request, its exchange, and the response.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>

#include "server/connections/connection.hpp"
#include "server/connections/exchange.hpp"
#include "server/http/outgoing.hpp"

namespace troupe::server {

class http2;

struct http2_flow final : exchange::owner {
  http2_flow(http2& session, std::int32_t stream_id) : session{session}, id{stream_id} {}
  void on_exchange(exchange& exchange) override;

  http2& session;
  const std::int32_t id;
  std::shared_ptr<exchange> current;

  // -- the request ------------------------------------------------------------------------------
  std::size_t header_bytes = 0;
  bool header_too_large = false;
  bool bad_target = false;
  bool complete = false;  // the client has ended its side
  bool refused = false;   // answered before the end of the request: the rest is dropped
  std::size_t discarded_bytes = 0;
  std::size_t body_bytes = 0;  // received, kept or not

  // -- the answer -------------------------------------------------------------------------------
  outgoing out;
  body::more rest;  // produces more of it
  bool streams = false;
  bool ended = false;     // `out` is complete
  bool deferred = false;  // nghttp2 found `out` empty and must be resumed
  connection::time_point progress;
  std::chrono::milliseconds stall_limit{};
  std::optional<connection::time_point> lingers_since;  // response sent, request still incomplete

  // The client could be sent more at once, if it read it.
  bool unsent() const { return !out.empty() || rest != nullptr; }
};

}  // namespace troupe::server
