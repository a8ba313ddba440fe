// HTTP/1.1 on a connection: one request at a time, later ones stay unread. Belongs to the
// connection's thread.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "server/connections/connection.hpp"
#include "server/connections/exchange.hpp"
#include "server/connections/http1_parser.hpp"
#include "server/connections/protocol.hpp"
#include "server/http/outgoing.hpp"

namespace troupe::server {

class http1 final : public protocol, public exchange::owner {
 public:
  explicit http1(connection& connection);
  ~http1() override;

  void on_input(std::string_view bytes) override;
  bool wants_input() const override { return tunnels_ ? !paused_ : phase_ != phase::answering; }
  void on_end() override;
  void on_peer_closing() override;
  void on_room() override;
  void on_tick() override;
  void drain() override;
  bool finished() const override { return finished_; }
  bool answering() const override { return phase_ == phase::answering; }
  std::chrono::milliseconds stall_limit() const override { return stall_limit_; }

 private:
  enum class phase : std::uint8_t { idle, head, body, answering };

  void on_exchange(exchange& exchange) override;

  // Reads requests and writes responses as far as possible; keeps the rest of `input`.
  void advance(std::string_view input);
  // Parses one step; returns the rest of the input.
  std::string_view read(std::string_view input);
  void begin_request();
  void head_complete();
  void serve();
  std::string_view deliver(std::string_view input);
  void refuse_head(response answer);
  void refuse(response answer);
  void refuse(http1_parser::step result);
  response answer_to(http1_parser::step result) const;
  bool is_late() const;

  void take_output();
  void write_head(const response& head);
  // The length of the response is not known when it begins.
  bool open_ended() const noexcept { return streams_ || rest_ != nullptr; }
  bool chunked() const noexcept { return chunked_; }
  void pump();
  bool next_chunk();
  void open_chunk(std::size_t size);
  void finish_answer();

  connection& connection_;
  http1_parser parser_;
  std::string unread_;
  std::shared_ptr<exchange> exchange_;
  phase phase_ = phase::idle;
  connection::time_point since_;  // start of idling, else of the request's first byte
  connection::time_point body_since_;
  std::chrono::milliseconds stall_limit_;
  bool served_any_ = false;
  bool peer_closing_ = false;
  bool close_after_ = false;
  bool finished_ = false;

  // A response decided before the body was received; sent after it.
  std::optional<response> refusal_;

  // The current response.
  outgoing out_;
  std::vector<piece> chunks_;  // of the stream, not yet in `out_`
  body::more rest_;            // produces the next chunks
  bool head_written_ = false;
  bool chunked_ = false;
  bool http10_ = false;
  bool body_allowed_ = true;
  bool streams_ = false;
  bool tunnels_ = false;
  bool paused_ = false;  // the tunnel's receiver accepts no more data for now
  bool in_chunk_ = false;
  bool ended_ = false;
};

}  // namespace troupe::server
