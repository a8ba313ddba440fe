// One stream of an HTTP/2 connection: a request coming in, its exchange, an answer going out.
#pragma once

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
  bool refused = false;   // answered before that: what still comes is dropped
  std::size_t discarded_bytes = 0;
  std::size_t body_bytes = 0;  // that came, kept or not

  // -- the answer -------------------------------------------------------------------------------
  outgoing out;
  body::more rest;  // makes more of it
  bool streams = false;
  bool ended = false;     // nothing will be added to `out`
  bool deferred = false;  // nghttp2 has asked and found `out` empty
  connection::time_point progress;
  std::optional<connection::time_point> lingers_since;  // sent, while the request still comes
};

}  // namespace troupe::server
