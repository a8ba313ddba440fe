// gRPC probes, with an HTTP/2 server that answers like a health service.
#include "actors/kubelet/health/grpc_check.hpp"

#include <arpa/inet.h>
#include <nghttp2/nghttp2.h>
#include <sys/socket.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <cstring>
#include <string>
#include <thread>

#include "runtime/unique_fd.hpp"

namespace troupe::actors {

using namespace std::chrono_literals;

namespace {

nghttp2_nv field(const char* name, const std::string& value) {
  const auto bytes = [](const char* text) {
    return reinterpret_cast<std::uint8_t*>(const_cast<char*>(text));
  };
  return {bytes(name), bytes(value.c_str()), std::strlen(name), value.size(), NGHTTP2_NV_FLAG_NONE};
}

struct reply {
  std::string body, code = "0", message = {};
  bool silent = false;
  std::string flood = {};  // sent again and again instead of an answer
};

// Answers one call and keeps the request.
class health_service {
 public:
  explicit health_service(reply answer) : answer_{std::move(answer)} {
    sockaddr_in at{};
    at.sin_family = AF_INET;
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    listening_ = runtime::unique_fd{::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)};
    REQUIRE(::bind(listening_.get(), reinterpret_cast<sockaddr*>(&at), sizeof at) == 0);
    REQUIRE(::listen(listening_.get(), 8) == 0);
    socklen_t size = sizeof at;
    ::getsockname(listening_.get(), reinterpret_cast<sockaddr*>(&at), &size);
    port_ = ntohs(at.sin_port);
    thread_ = std::thread{[this] { serve(); }};
  }
  ~health_service() { stop(); }
  void stop() {
    ::shutdown(listening_.get(), SHUT_RDWR);
    if (thread_.joinable()) thread_.join();
  }
  int port() const { return port_; }
  // Valid after it has stopped.
  const std::string& request() const { return request_; }
  const std::string& path() const { return path_; }

 private:
  void serve() {
    const runtime::unique_fd client{::accept(listening_.get(), nullptr, nullptr)};
    if (!client) return;
    nghttp2_session_callbacks* callbacks = nullptr;
    nghttp2_session_callbacks_new(&callbacks);
    nghttp2_session_callbacks_set_on_header_callback(callbacks, &on_header);
    nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks, &on_data);
    nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks, &on_frame);
    nghttp2_session* session = nullptr;
    nghttp2_session_server_new(&session, callbacks, this);
    nghttp2_session_callbacks_del(callbacks);
    nghttp2_submit_settings(session, NGHTTP2_FLAG_NONE, nullptr, 0);
    for (;;) {
      if (!answer_.flood.empty() && !path_.empty()) {
        const auto& part = answer_.flood;
        while (::send(client.get(), part.data(), part.size(), MSG_NOSIGNAL) > 0) {
        }
        break;
      }
      const std::uint8_t* bytes = nullptr;
      for (ssize_t n = 0; (n = nghttp2_session_mem_send(session, &bytes)) > 0;)
        ::send(client.get(), bytes, static_cast<std::size_t>(n), MSG_NOSIGNAL);
      std::uint8_t part[4096];
      const auto n = ::recv(client.get(), part, sizeof part, 0);
      if (n <= 0 || nghttp2_session_mem_recv(session, part, static_cast<std::size_t>(n)) < 0) break;
    }
    nghttp2_session_del(session);
  }

  static int on_header(nghttp2_session*, const nghttp2_frame*, const std::uint8_t* name,
                       std::size_t name_size, const std::uint8_t* value, std::size_t value_size,
                       std::uint8_t, void* self) {
    if (std::string_view{reinterpret_cast<const char*>(name), name_size} == ":path")
      static_cast<health_service*>(self)->path_.assign(reinterpret_cast<const char*>(value),
                                                       value_size);
    return 0;
  }
  static int on_data(nghttp2_session*, std::uint8_t, std::int32_t, const std::uint8_t* bytes,
                     std::size_t size, void* self) {
    static_cast<health_service*>(self)->request_.append(reinterpret_cast<const char*>(bytes), size);
    return 0;
  }
  static int on_frame(nghttp2_session* session, const nghttp2_frame* frame, void* context) {
    auto& self = *static_cast<health_service*>(context);
    // In other frames the flag has another meaning.
    const bool whole =
        frame->hd.type == NGHTTP2_DATA && (frame->hd.flags & NGHTTP2_FLAG_END_STREAM) != 0;
    if (!whole || self.answer_.silent) return 0;
    const std::string ok = "200", type = "application/grpc";
    const nghttp2_nv head[] = {field(":status", ok), field("content-type", type)};
    const nghttp2_data_provider body{{}, &read_answer};
    return nghttp2_submit_response(session, frame->hd.stream_id, head, 2, &body);
  }
  static ssize_t read_answer(nghttp2_session* session, std::int32_t id, std::uint8_t* to,
                             std::size_t, std::uint32_t* flags, nghttp2_data_source*,
                             void* context) {
    const auto& answer = static_cast<health_service*>(context)->answer_;
    std::memcpy(to, answer.body.data(), answer.body.size());
    *flags |= NGHTTP2_DATA_FLAG_EOF | NGHTTP2_DATA_FLAG_NO_END_STREAM;
    const nghttp2_nv trailer[] = {field("grpc-status", answer.code),
                                  field("grpc-message", answer.message)};
    nghttp2_submit_trailer(session, id, trailer, 2);
    return static_cast<ssize_t>(answer.body.size());
  }

  const reply answer_;
  std::string request_, path_;
  runtime::unique_fd listening_;
  int port_ = 0;
  std::thread thread_;
};

std::string status(char value) {
  return std::string("\0\0\0\0\2\x08", 6) + value;
}

health_result ask(const reply& answer) {
  health_service service{answer};
  return grpc_check({"127.0.0.1", service.port()}, answer.flood.empty() ? 60s : 500ms);
}

}  // namespace

TEST_CASE("a gRPC health service that serves is a success, every other answer is not",
          "[kubelet]") {
  CHECK(ask({status(1)}).status == check_status::success);
  for (const auto& [answer, message] :
       {std::pair{reply{status(2)}, "service unhealthy (responded with \"NOT_SERVING\")"},
        std::pair{reply{std::string(5, '\0')}, "service unhealthy (responded with \"UNKNOWN\")"},
        std::pair{reply{{}, "12", "unknown service"},
                  "error: this server does not implement the grpc health protocol "
                  "(grpc.health.v1.Health): unknown service"},
        std::pair{reply{{}, "5", "no such service"},
                  "error: health rpc probe failed: no such service"},
        std::pair{reply{"junk"}, "error: health rpc probe failed: "}}) {
    const auto result = ask(answer);
    CHECK(result.status == check_status::failure);
    CHECK(result.message == message);
  }
}

TEST_CASE("a gRPC probe asks for the service of its spec", "[kubelet]") {
  health_service service{{status(1)}};
  CHECK(grpc_check({"127.0.0.1", service.port(), "shop"}, 60s).status == check_status::success);
  service.stop();
  CHECK(service.path() == "/grpc.health.v1.Health/Check");
  CHECK(service.request() == std::string("\0\0\0\0\6\x0a\4shop", 11));
}

TEST_CASE("a gRPC probe ends in time if the port is closed, silent or does not speak HTTP/2",
          "[kubelet]") {
  CHECK_THAT(grpc_check({"127.0.0.1", 1}, 60s).message,
             Catch::StartsWith("error: failed to connect service at \"127.0.0.1:1\": "));
  health_service silent{{.body = {}, .silent = true}};
  const auto late = grpc_check({"127.0.0.1", silent.port()}, 200ms);
  CHECK(late.status == check_status::failure);
  CHECK(late.message == "timeout: health rpc did not complete within 0s");
}

TEST_CASE("a gRPC probe ends in time and in bounds where the server sends without end",
          "[kubelet]") {
  const auto frame = [](std::size_t size, char type, char stream, std::string content) {
    return std::string{static_cast<char>(size >> 16),
                       static_cast<char>(size >> 8),
                       static_cast<char>(size),
                       type,
                       '\0',
                       '\0',
                       '\0',
                       '\0',
                       stream} +
           std::move(content);
  };
  auto begin = std::chrono::steady_clock::now();
  CHECK(ask({status(1)}).status == check_status::success);
  const auto usual = std::chrono::steady_clock::now() - begin;
  begin += usual;
  SECTION("pings") {
    const auto result = ask({.body = {}, .flood = frame(8, 6, 0, std::string(8, 'p'))});
    CHECK(result.status == check_status::failure);
  }
  SECTION("an answer") {
    // The header ":status: 200", from the static table of HPACK, and data.
    auto head = frame(1, 1, 1, "\x88");
    head[4] = '\4';
    const auto result =
        ask({.body = {}, .flood = head + frame(16'000, 0, 1, std::string(16'000, 'x'))});
    CHECK(result.status == check_status::failure);
  }
  CHECK(std::chrono::steady_clock::now() - begin < 4s + 50 * usual);
}

}  // namespace troupe::actors
