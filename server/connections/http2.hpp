// HTTP/2 on a connection, with nghttp2. Belongs to the connection's thread. nghttp2 implements the
// protocol (flow control, header compression, limits of resets, pings and settings); this class
// connects its streams to exchanges.
#pragma once

#include <cstdint>
#include <memory>
#include <unordered_map>

#include "server/connections/connection.hpp"
#include "server/connections/exchange.hpp"
#include "server/connections/http2_flow.hpp"
#include "server/connections/protocol.hpp"

struct nghttp2_session;

namespace troupe::server {

class http2 final : public protocol {
 public:
  explicit http2(connection& connection);
  ~http2() override;

  void on_input(std::string_view bytes) override;
  bool wants_input() const override { return true; }
  void on_end() override { finished_ = true; }
  void on_peer_closing() override {}
  void on_room() override { pump(); }
  void on_tick() override;
  void drain() override;
  bool finished() const override;
  bool answering() const override { return !flows_.empty(); }
  std::chrono::milliseconds stall_limit() const override;

  // The handler has responded, or written more data.
  void on_output(http2_flow& flow);

 private:
  friend struct http2_callbacks;

  void begin(std::int32_t id);
  http2_flow* find(std::int32_t id) noexcept;
  void add_header(http2_flow& flow, std::string_view name, std::string_view value);
  void head_complete(http2_flow& flow);
  void add_body(http2_flow& flow, std::string_view part);
  void request_complete(http2_flow& flow);
  void refuse(http2_flow& flow, response answer);
  // As refuse(), for refusals by the protocol itself, which are reported here.
  void refuse_here(http2_flow& flow, response answer);
  void answer_sent(http2_flow& flow);
  void stop(http2_flow& flow);
  void end(std::int32_t id);

  // Counts bytes of a header block; returns false if it is too long to be read further.
  bool header_part(bool first, std::size_t bytes);
  // Counts a stream beyond the limit; returns false if there were too many.
  bool refused_stream();
  void take_output(http2_flow& flow);
  void submit_head(http2_flow& flow, response& head);
  void reset(http2_flow& flow, std::uint32_t error_code);
  void check_time(http2_flow& flow);
  void pump();

  connection& connection_;
  nghttp2_session* session_ = nullptr;
  std::unordered_map<std::int32_t, std::unique_ptr<http2_flow>> flows_;
  connection::time_point idle_since_;
  std::size_t block_bytes_ = 0;
  std::size_t refused_streams_ = 0;
  bool served_any_ = false;
  bool finished_ = false;
};

}  // namespace troupe::server
