#include "server/connections/http1.hpp"

#include <array>
#include <charconv>

#include "server/connections/answer_head.hpp"
#include "server/defaults.hpp"
#include "server/http/status.hpp"

namespace troupe::server {

http1::http1(connection& connection)
    : connection_{connection},
      since_{connection.now()},
      stall_limit_{connection.worker().options().stall_timeout} {}

http1::~http1() {
  if (exchange_) exchange_->detach();
}

// -- from the connection ------------------------------------------------------------------------

void http1::on_input(std::string_view bytes) {
  if (unread_.empty()) return advance(bytes);
  // Allocates no more than needed: the client may leave it there for long.
  std::string all;
  all.reserve(unread_.size() + bytes.size());
  all.append(unread_).append(bytes);
  unread_ = std::move(all);
  advance(unread_);
}

void http1::on_end() {
  if (phase_ != phase::answering || tunnels_) finished_ = true;
}

// No one reads a stream any more. A single response may still be read by a client that has only
// closed its side, but it no longer needs a seat among the requests in flight.
void http1::on_peer_closing() {
  peer_closing_ = true;
  // A paused tunnel would not notice it.
  if (tunnels_ && paused_) finished_ = true;
  if (phase_ != phase::answering || tunnels_) return;  // these read up to the end
  if (streams_) {
    finished_ = true;
  } else {
    exchange_->client_left();
  }
}

void http1::on_room() {
  advance(unread_);
}

void http1::on_tick() {
  const auto& options = connection_.worker().options();
  const auto age = connection_.now() - since_;
  switch (phase_) {
    case phase::idle:
      finished_ = finished_ || age > (served_any_ ? options.idle_timeout : options.header_timeout);
      return;
    case phase::head:
    case phase::body: {
      if (!is_late()) return;
      connection_.count_time_out();
      // A refused client that does not send the rest gets its refusal now.
      auto answer = refusal_ ? std::move(*refusal_) : body_too_slow();
      if (!refusal_) connection_.refused(exchange_->request(), answer);
      refuse(std::move(answer));
      return advance({});
    }
    case phase::answering:
      if (age > options.request_timeout && exchange_->unanswered() &&
          !exchange_->request().long_running) {
        exchange_->respond(status_response(504, "Timeout", "the request was not answered in time"));
      }
  }
}

bool http1::is_late() const {
  const auto& options = connection_.worker().options();
  const auto now = connection_.now();
  if (phase_ == phase::head) return now - since_ > options.header_timeout;
  return now - since_ > options.request_timeout ||
         body_is_slow(options, now - body_since_, parser_.body_bytes());
}

void http1::drain() {
  close_after_ = true;
  if (phase_ == phase::idle) finished_ = true;
  if (phase_ == phase::answering && streams_) exchange_->end();
}

// -- requests -------------------------------------------------------------------------------------

void http1::advance(std::string_view input) {
  for (;;) {
    pump();
    if (tunnels_ && !finished_) input = deliver(input);
    if (phase_ == phase::answering || finished_ || input.empty()) break;
    const auto rest = read(input);
    if (rest.size() == input.size() && phase_ != phase::answering && !finished_) break;
    input = rest;
  }
  if (finished_) input = {};
  if (input.empty()) {
    // An idle connection keeps no input buffer.
    if (!unread_.empty()) std::string{}.swap(unread_);
  } else if (unread_.empty()) {
    unread_.assign(input);
  } else {
    unread_.erase(0, unread_.size() - input.size());
  }
}

std::string_view http1::deliver(std::string_view input) {
  if (paused_ || input.empty()) return input;
  paused_ = !exchange_->receive(input);
  return {};
}

std::string_view http1::read(std::string_view input) {
  if (phase_ == phase::idle) {
    // Ignores line ends between requests (RFC 9112 2.2).
    const auto start = input.find_first_not_of("\r\n");
    if (start == std::string_view::npos) return {};
    input.remove_prefix(start);
    begin_request();
  }
  for (;;) {
    const auto result = parser_.feed(input);
    input.remove_prefix(result.consumed);
    switch (result.step) {
      case http1_parser::step::need_more:
        if (phase_ == phase::body && !refusal_)
          if (auto refusal = charge_body(connection_, *exchange_)) refuse(std::move(*refusal));
        return input;
      case http1_parser::step::head:
        head_complete();
        if (phase_ == phase::answering) return input;  // refused
        break;
      case http1_parser::step::complete:
        serve();
        return input;
      default:
        refuse(result.step);
        return input;
    }
  }
}

void http1::begin_request() {
  const auto& options = connection_.worker().options();
  exchange_ = std::make_shared<exchange>(connection_.worker().loop().queue(), *this,
                                         connection_.worker().counters().streams);
  auto& request = exchange_->request();
  request.id = connection_.worker().next_request_id();
  request.connection = connection_.info();
  request.received = since_ = connection_.now();
  parser_.begin(request, {connection_.header_limit_bytes(), options.body_limit_bytes});
  phase_ = phase::head;
  stall_limit_ = options.stall_timeout;
  head_written_ = streams_ = tunnels_ = paused_ = in_chunk_ = ended_ = http10_ = false;
  refusal_.reset();
}

void http1::head_complete() {
  auto& request = exchange_->request();
  http10_ = parser_.http10();
  close_after_ = close_after_ || !parser_.keep_alive();
  phase_ = phase::body;
  body_since_ = connection_.now();
  ++connection_.worker().counters().requests;
  auto refusal = admit(connection_, request);
  connection_.mark_authenticated(request);
  if (refusal) return refuse_head(std::move(*refusal));
  if (parser_.expects_continue()) connection_.wire().write("HTTP/1.1 100 Continue\r\n\r\n");
}

void http1::serve() {
  phase_ = phase::answering;
  stall_limit_ = server::stall_limit(connection_.worker().options(), exchange_->request());
  served_any_ = true;
  if (refusal_) {
    exchange_->answer_here(std::move(*refusal_));
    refusal_.reset();
  } else if (auto refusal = enter(connection_, *exchange_)) {
    exchange_->answer_here(std::move(*refusal));
  } else {
    exchange_->serve(connection_.target());
  }
  take_output();
}

// Keeps the connection if the rest of the request is short: a client refused for its request rate
// should not have to repeat the TLS handshake.
void http1::refuse_head(response answer) {
  if (parser_.expects_continue() || !parser_.body_within(defaults::drained_body_bytes))
    return refuse(std::move(answer));
  parser_.drop_body();
  refusal_ = std::move(answer);
}

// The following bytes cannot be trusted to be a request, so this is the last response.
void http1::refuse(response answer) {
  close_after_ = true;
  phase_ = phase::answering;
  exchange_->answer_here(std::move(answer));
  take_output();
}

void http1::refuse(http1_parser::step result) {
  auto answer = answer_to(result);
  connection_.refused(exchange_->request(), answer);
  refuse(std::move(answer));
}

response http1::answer_to(http1_parser::step result) const {
  using step = http1_parser::step;
  switch (result) {
    case step::head_too_large:
      return status_response(431, "RequestHeaderFieldsTooLarge",
                             "the header fields of the request are too large");
    case step::body_too_large:
      return body_too_large(connection_.worker().options().body_limit_bytes);
    case step::unsupported:
      return status_response(501, "NotImplemented", parser_.problem());
    case step::bad_version:
      return status_response(505, "BadRequest", parser_.problem());
    default:
      return status_response(400, "BadRequest", parser_.problem());
  }
}

// -- answers --------------------------------------------------------------------------------------

void http1::on_exchange(exchange& exchange) {
  if (&exchange != exchange_.get()) return;
  take_output();
  advance(unread_);
  connection_.proceed();
}

void http1::take_output() {
  auto output = exchange_->take();
  if (output.overrun) {
    ++connection_.worker().counters().overrun_streams;
    finished_ = true;
    // The peer does not read earlier responses: sending more would block.
    if (connection_.wire().blocked()) connection_.wire().abandon();
    return;
  }
  if (output.cut) {
    finished_ = true;
    return;
  }
  if (output.resumed) paused_ = false;
  if (output.head) {
    streams_ = output.streams;
    tunnels_ = output.tunnels;
    rest_ = output.head->content.release_rest();
    write_head(*output.head);
    if (body_allowed_) out_.add(output.head->content.release());
    if (!body_allowed_) rest_ = nullptr;
  }
  ended_ = output.ended || (streams_ && !body_allowed_);
  if (streams_ && !tunnels_ && peer_closing_) finished_ = true;
  if (!body_allowed_) return;
  chunks_.insert(chunks_.end(), std::make_move_iterator(output.chunks.begin()),
                 std::make_move_iterator(output.chunks.end()));
}

void http1::write_head(const response& head) {
  const bool no_content = head.status == 204 || head.status == 304;
  body_allowed_ = exchange_->request().method != http_method::head && !no_content;
  chunked_ = open_ended() && !tunnels_ && !http10_ && body_allowed_;
  close_after_ = close_after_ || tunnels_ || (open_ended() && http10_);

  auto& text = connection_.worker().head_text();
  text = "HTTP/1.1 ";
  append_number(text, static_cast<std::uint64_t>(head.status));
  text += ' ';
  text += reason_phrase(head.status);
  text += "\r\n";
  each_field(head, exchange_->request().id, connection_.worker().date(),
             [&text](std::string_view name, std::string_view value) {
               text.append(name).append(": ").append(value).append("\r\n");
             });
  if (chunked()) {
    text += "transfer-encoding: chunked\r\n";
  } else if (!open_ended() && !no_content) {
    text += "content-length: ";
    append_number(text, head.content.size_bytes());
    text += "\r\n";
  }
  if (tunnels_) {
    text += "connection: upgrade\r\n";
  } else if (close_after_) {
    text += "connection: close\r\n";
  } else if (http10_) {
    text += "connection: keep-alive\r\n";
  }
  text += "\r\n";
  connection_.wire().write(text);
  head_written_ = true;
  if (chunked() && !head.content.empty()) open_chunk(head.content.size_bytes());
}

void http1::open_chunk(std::size_t size) {
  std::array<char, 20> text;
  const auto end = std::to_chars(text.data(), text.data() + 16, size, 16).ptr;
  connection_.wire().write({text.data(), static_cast<std::size_t>(end - text.data())});
  connection_.wire().write("\r\n");
  in_chunk_ = true;
}

void http1::pump() {
  if (phase_ != phase::answering || !head_written_ || finished_) return;
  std::size_t streamed = 0;
  auto& wire = connection_.wire();
  while (!wire.blocked() && !wire.broken() && !wire.spent()) {
    if (!out_.empty()) {
      const auto part = out_.front().substr(0, defaults::send_bytes);
      wire.write(part);
      out_.consume(part.size());
      streamed += part.size();
    } else if (!next_chunk()) {
      break;
    }
  }
  if (streams_ && streamed > 0) exchange_->sent(streamed);
  if (ended_ && out_.empty() && chunks_.empty() && !in_chunk_ && !rest_) finish_answer();
}

// Ends the current chunk and begins the next waiting one; returns false if there is nothing to
// do.
bool http1::next_chunk() {
  if (in_chunk_) {
    connection_.wire().write("\r\n");
    in_chunk_ = false;
  }
  if (chunks_.empty() && rest_) {
    body made;
    if (!rest_(made)) rest_ = nullptr;
    chunks_ = made.release();
    if (chunks_.empty()) return rest_ != nullptr;
  }
  if (chunks_.empty()) return false;
  out_.add(std::move(chunks_));
  chunks_.clear();
  if (chunked()) open_chunk(out_.size_bytes());
  return true;
}

void http1::finish_answer() {
  if (chunked()) connection_.wire().write("0\r\n\r\n");
  chunked_ = false;
  exchange_->detach();
  exchange_.reset();
  phase_ = phase::idle;
  since_ = connection_.now();
  if (close_after_) finished_ = true;
}

}  // namespace troupe::server
