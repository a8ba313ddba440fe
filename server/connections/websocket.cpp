#include "server/connections/websocket.hpp"

#include <openssl/evp.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <mutex>
#include <optional>

#include "api/values/base64.hpp"
#include "server/connections/websocket_frames.hpp"
#include "server/defaults.hpp"
#include "server/http/status.hpp"
#include "server/http/upgrade.hpp"

namespace troupe::server {
namespace {

bool contains(const std::vector<std::string>& all, std::string_view one) {
  return std::find(all.begin(), all.end(), one) != all.end();
}

// RFC 6455 4.2.2.
std::string accept_value(std::string_view key) {
  const auto text = std::string(key) + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest;
  unsigned int size = 0;
  EVP_Digest(text.data(), text.size(), digest.data(), &size, EVP_sha1(), nullptr);
  std::string value;
  api::append_base64(value, {reinterpret_cast<const char*>(digest.data()), size});
  return value;
}

std::optional<std::string> problem_of(const request& request) {
  if (!websocket::wanted(request)) return "expected a WebSocket handshake";
  if (request.headers.get("sec-websocket-version") != "13") return "expected WebSocket version 13";
  if (request.headers.get("sec-websocket-key").size() != 24) return "expected a Sec-WebSocket-Key";
  return std::nullopt;
}

}  // namespace

// The protocol's state. Owned by the callbacks of its stream, so it lives as long as
// that.
class websocket::session {
 public:
  session(websocket_events events, std::string protocol)
      : events_{std::move(events)}, protocol_{std::move(protocol)} {}

  // The lock delays the first bytes until `stream_` is set.
  void start(const std::shared_ptr<session>& self, const responder& answer, response head) {
    const std::lock_guard lock{mutex_};
    stream_ = answer.start_tunnel(
        std::move(head),
        {[self] { call(self->events_.writable); }, [self] { call(self->events_.closed); },
         [self](std::string_view bytes) { return self->receive(bytes); }});
  }

  bool send(websocket_opcode opcode, std::string_view payload, shared_text owner) {
    const std::lock_guard lock{mutex_};
    if (closing_) return false;
    bool room = stream_.write(websocket_head(opcode, payload.size()));
    if (!payload.empty()) room = stream_.write(payload, std::move(owner));
    return room;
  }

  void ping() { send_text(websocket_opcode::ping, {}); }

  void close(std::uint16_t code, std::string_view reason) {
    send_text(websocket_opcode::close, websocket_close_payload(code, reason));
    const std::lock_guard lock{mutex_};
    closing_ = true;
    stream_.close();
  }

  void resume() {
    const std::lock_guard lock{mutex_};
    stream_.resume();
  }

  bool open() const {
    const std::lock_guard lock{mutex_};
    return !closing_ && stream_.open();
  }
  const std::string& protocol() const noexcept { return protocol_; }

 private:
  static void call(const std::function<void()>& callback) {
    if (callback) callback();
  }

  void send_text(websocket_opcode opcode, std::string_view payload) {
    const shared_text shared{payload};
    send(opcode, *shared, shared);
  }

  bool receive(std::string_view bytes) {
    bool more = true;
    const auto wrong = reader_.feed(bytes, [&](websocket_opcode opcode, std::string payload) {
      if (opcode == websocket_opcode::ping) return send_text(websocket_opcode::pong, payload);
      if (opcode == websocket_opcode::pong) return call(events_.ponged);
      if (opcode == websocket_opcode::close) return close(websocket_code::normal, {});
      if (events_.message)
        more = events_.message(std::move(payload), opcode == websocket_opcode::binary);
    });
    if (wrong) close(*wrong, {});
    return more || wrong;
  }

  const websocket_events events_;
  const std::string protocol_;
  websocket_reader reader_{defaults::body_limit_bytes};  // used on the I/O thread
  mutable std::mutex mutex_;
  stream stream_;
  bool closing_ = false;
};

// Shared by the copies of a handle.
class websocket::duty {
 public:
  explicit duty(std::shared_ptr<session> session) : session_{std::move(session)} {}
  duty(const duty&) = delete;
  duty& operator=(const duty&) = delete;
  ~duty() { session_->close(websocket_code::going_away, {}); }
  session& operator*() const noexcept { return *session_; }

 private:
  const std::shared_ptr<session> session_;
};

bool websocket::wanted(const request& request) {
  return wants_websocket(request);
}

websocket websocket::accept(const request& request, const responder& answer,
                            const std::vector<std::string>& protocols, websocket_events events) {
  const auto refuse = [&answer](std::string_view reason) {
    answer.respond(status_response(400, "BadRequest", reason));
    return websocket{};
  };
  if (const auto problem = problem_of(request)) return refuse(*problem);
  const auto offered = offered_protocols(request.headers);
  const auto chosen = std::find_if(protocols.begin(), protocols.end(),
                                   [&](const auto& one) { return contains(offered, one); });
  if (chosen == protocols.end() && !offered.empty() && !protocols.empty())
    return refuse("none of the offered WebSocket protocols is spoken here");

  response head;
  head.fields.push_back({"upgrade", "websocket"});
  head.fields.push_back(
      {"sec-websocket-accept", accept_value(request.headers.get("sec-websocket-key"))});
  std::string protocol = chosen == protocols.end() ? std::string() : *chosen;
  if (!protocol.empty()) head.fields.push_back({"sec-websocket-protocol", protocol});
  const auto made = std::make_shared<session>(std::move(events), std::move(protocol));
  made->start(made, answer, std::move(head));
  websocket opened;
  opened.duty_ = std::make_shared<duty>(made);
  return opened;
}

const std::string& websocket::protocol() const noexcept {
  static const std::string none;
  return duty_ ? (**duty_).protocol() : none;
}

bool websocket::send(shared_text payload, bool binary) const {
  if (!duty_ || !payload) return false;
  const auto text = *payload;
  return (**duty_).send(binary ? websocket_opcode::binary : websocket_opcode::text, text,
                        std::move(payload));
}

bool websocket::send(std::string_view payload, shared_text owner, bool binary) const {
  if (!duty_) return false;
  return (**duty_).send(binary ? websocket_opcode::binary : websocket_opcode::text, payload,
                        std::move(owner));
}

bool websocket::send(std::string payload, bool binary) const {
  return send(shared_text{payload}, binary);
}

void websocket::ping() const {
  if (duty_) (**duty_).ping();
}

void websocket::resume() const {
  if (duty_) (**duty_).resume();
}

void websocket::close(std::uint16_t code, std::string_view reason) const {
  if (duty_) (**duty_).close(code, reason);
}

bool websocket::open() const noexcept {
  return duty_ && (**duty_).open();
}

}  // namespace troupe::server
