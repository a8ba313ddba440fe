// Feeds a client's bytes to an HTTP/2 session, on a real connection without threads.
#include <nghttp2/nghttp2.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>

#include "server/connections/connection.hpp"
#include "server/connections/http2.hpp"
#include "server/defaults.hpp"
#include "tools/fuzz/entries.hpp"

namespace troupe::fuzz {
namespace {

// Small, so that few bytes reach the limits.
constexpr std::size_t limit_bytes = 2048;
// SETTINGS_MAX_FRAME_SIZE can only be raised; both sides use the minimum.
constexpr std::size_t frame_bytes = 16u << 10;
constexpr std::size_t frame_head_bytes = 9;

// -- the server's side ----------------------------------------------------------------------------

// Answers depend on the path: refused before the body, never, as a stream that stays open, ends or
// exceeds its reader's limit, otherwise at once with the sent body.
class site_of_all_answers final : public server::handler {
 public:
  std::optional<server::response> admit(server::request& head) override {
    require(!head.path.empty() && head.path.find('\0') == head.path.npos, "a head has a path");
    head.long_running = head.path == "/open";
    if (head.path != "/refused") return std::nullopt;
    server::response refusal;
    refusal.status = 403;
    return refusal;
  }

  std::optional<server::response> enter(const server::request&,
                                        std::shared_ptr<void>& permit) override {
    permit = {&waiting_, [](void* count) { --*static_cast<std::size_t*>(count); }};
    require(++waiting_ <= server::defaults::concurrent_streams, "streams have their bound");
    return std::nullopt;
  }

  void serve(server::request_ptr request, server::responder answer) override {
    require(request->content.size() <= limit_bytes, "a body has its bound");
    if (request->path == "/never") return unanswered_.push_back(std::move(answer));
    server::response head;
    head.fields.push_back({"x-method", request->method_text});
    head.content.add(request->content);
    if (request->path != "/open" && request->path != "/ends" && request->path != "/flood")
      return answer.respond(std::move(head));
    auto to = answer.start_stream(std::move(head), {});
    for (std::size_t i = request->path == "/flood" ? 16 : 1; i > 0; --i)
      to.write(std::string(limit_bytes, 's'));
    if (request->path == "/open") open_.push_back(std::move(to));
  }

  // Called after the session: late answers must do no harm.
  void end() {
    unanswered_.clear();
    open_.clear();
    require(waiting_ == 0, "a session that ends keeps no place");
  }

 private:
  std::size_t waiting_ = 0;
  std::vector<server::responder> unanswered_;
  std::vector<server::stream> open_;
};

// The worker of an I/O thread that has ended, so that this thread owns its state.
struct quiet_worker {
  quiet_worker() { all.stop(); }

  const server::http_options options{.body_limit_bytes = limit_bytes,
                                     .header_limit_bytes = limit_bytes,
                                     .stream_buffer_bytes = limit_bytes};
  server::http_counters counters{options};
  server::io_worker all{0, options, counters};
};

// -- the client's side ----------------------------------------------------------------------------

class client_socket {
 public:
  client_socket() {
    int ends[2];
    require(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends) == 0,
            "there are sockets");
    ours_ = ends[0];
    theirs_ = ends[1];
    const int small = 1;  // the kernel's minimum
    ::setsockopt(theirs_, SOL_SOCKET, SO_SNDBUF, &small, sizeof small);
  }
  ~client_socket() { ::close(ours_); }
  client_socket(const client_socket&) = delete;
  client_socket& operator=(const client_socket&) = delete;

  int for_server() const noexcept { return theirs_; }

  void receive() {
    char part[4096];
    for (ssize_t got = 0; (got = ::recv(ours_, part, sizeof part, 0)) > 0;)
      received_.append(part, static_cast<std::size_t>(got));
  }

  // Checks that frames are complete and not longer than agreed.
  void check() const {
    std::string_view rest = received_;
    while (rest.size() >= frame_head_bytes) {
      const auto byte = [&](std::size_t i) {
        return std::size_t{static_cast<unsigned char>(rest[i])};
      };
      const auto size = byte(0) << 16 | byte(1) << 8 | byte(2);
      require(size <= frame_bytes, "a frame of ours has its bound");
      require(byte(3) <= NGHTTP2_CONTINUATION, "a frame of ours is of a known type");
      require(frame_head_bytes + size <= rest.size(), "our last frame is whole");
      rest.remove_prefix(frame_head_bytes + size);
    }
    require(rest.empty(), "our frames follow one another");
  }

 private:
  int ours_ = -1, theirs_ = -1;
  std::string received_;
};

void make_room(server::connection& connection, server::http2& session, client_socket& client) {
  while (connection.wire().blocked()) {
    client.receive();
    connection.wire().writable();
    if (connection.wire().blocked()) continue;
    session.on_room();
    connection.wire().flush();
  }
}

// The first byte selects the sizes of the pieces, and whether the client reads in between.
void read_session(std::string_view bytes) {
  if (bytes.empty()) return;
  static quiet_worker worker;
  const unsigned how = static_cast<unsigned char>(bytes.front());
  bytes.remove_prefix(1);
  const std::size_t piece = how < 0xf0 ? 1 + how : frame_bytes;
  site_of_all_answers target;
  client_socket client;
  {
    server::connection connection{
        worker.all,
        {client.for_server(), "client", 0},
        std::make_shared<const server::site>(server::site{target, nullptr, "server", false})};
    server::http2 session{connection};
    connection.wire().flush();
    while (!bytes.empty() && !session.finished()) {
      session.on_input(bytes.substr(0, piece));
      bytes.remove_prefix(std::min(piece, bytes.size()));
      connection.wire().flush();
      if (how % 2 == 0) client.receive();
      make_room(connection, session, client);
    }
    session.on_tick();
    session.drain();
    connection.wire().flush();
    make_room(connection, session, client);
    require(!connection.wire().broken(), "the wire holds");
    client.receive();
  }
  target.end();
  client.check();
}

// -- seeds ----------------------------------------------------------------------------------------

struct question {
  const char* method;
  const char* path;
  std::string body = {};
};

nghttp2_nv header(const char* name, const char* value) {
  const auto bytes = [](const char* text) {
    return reinterpret_cast<std::uint8_t*>(const_cast<char*>(text));
  };
  return {bytes(name), bytes(value), std::strlen(name), std::strlen(value), NGHTTP2_NV_FLAG_NONE};
}

ssize_t send_body(nghttp2_session*, std::int32_t, std::uint8_t* into, std::size_t size,
                  std::uint32_t* flags, nghttp2_data_source* source, void*) {
  auto& rest = *static_cast<std::string*>(source->ptr);
  const auto count = std::min(size, rest.size());
  std::memcpy(into, rest.data(), count);
  rest.erase(0, count);
  if (rest.empty()) *flags |= NGHTTP2_DATA_FLAG_EOF;
  return static_cast<ssize_t>(count);
}

// The bytes of a client that reads nothing.
std::string client_bytes(std::vector<question> questions) {
  nghttp2_session_callbacks* calls = nullptr;
  nghttp2_session_callbacks_new(&calls);
  nghttp2_session* session = nullptr;
  nghttp2_session_client_new(&session, calls, nullptr);
  nghttp2_session_callbacks_del(calls);
  const nghttp2_settings_entry window{NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, 1u << 20};
  nghttp2_submit_settings(session, NGHTTP2_FLAG_NONE, &window, 1);
  for (auto& each : questions) {
    const std::array<nghttp2_nv, 5> headers{
        header(":method", each.method), header(":path", each.path), header(":scheme", "https"),
        header(":authority", "localhost"), header("accept", "application/json")};
    nghttp2_data_provider body{};
    body.source.ptr = &each.body;
    body.read_callback = send_body;
    nghttp2_submit_request(session, nullptr, headers.data(), headers.size(),
                           each.body.empty() ? nullptr : &body, nullptr);
  }
  nghttp2_submit_ping(session, NGHTTP2_FLAG_NONE, nullptr);
  nghttp2_submit_window_update(session, NGHTTP2_FLAG_NONE, 0, 1 << 20);
  std::string out;
  const std::uint8_t* part = nullptr;
  for (ssize_t size = 0; (size = nghttp2_session_mem_send(session, &part)) > 0;)
    out.append(reinterpret_cast<const char*>(part), static_cast<std::size_t>(size));
  nghttp2_session_del(session);
  return out;
}

std::vector<std::string> sessions() {
  const std::string whole = "\xf0", lazy = "\xf1", in_pieces = "\x10";
  const std::string reset{"\0\0\4\3\0\0\0\0\1\0\0\0\x08", 13},
      goaway{"\0\0\x08\7\0\0\0\0\0\0\0\0\1\0\0\0\0", 17};
  return {whole + client_bytes({{"GET", "/api/v1/pods?limit=5"}, {"HEAD", "/a%20b"}}),
          lazy + client_bytes({{"GET", "/flood"}, {"GET", "/ends"}, {"GET", "/open"}}),
          in_pieces + client_bytes({{"POST", "/echo", std::string(300, 'b')}, {"GET", "/never"}}),
          whole + client_bytes({{"POST", "/refused", std::string(300, 'b')}}),
          whole + client_bytes({{"PUT", "/large", std::string(limit_bytes + 1, 'b')}}),
          in_pieces + client_bytes({{"GET", "/open"}}) + reset + goaway};
}

}  // namespace

void add_sessions(std::vector<entry>& to) {
  to.push_back({"http2", &sessions, &read_session});
}

}  // namespace troupe::fuzz
