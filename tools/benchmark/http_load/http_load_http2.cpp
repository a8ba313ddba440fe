#include <nghttp2/nghttp2.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <stdexcept>
#include <unordered_map>

#include "benchmark/http_load/http_load_connection.hpp"

namespace troupe::bench {
namespace {

constexpr std::size_t read_bytes = 64 << 10;
// Large enough that our window does not slow down a list.
constexpr std::int32_t window_bytes = 16 << 20;

class http2_load final : public load_connection {
 public:
  explicit http2_load(load_thread& thread) : thread_{thread}, socket_{thread} {
    nghttp2_session_callbacks* calls = nullptr;
    nghttp2_session_callbacks_new(&calls);
    nghttp2_session_callbacks_set_on_header_callback(calls, on_header);
    nghttp2_session_callbacks_set_on_data_chunk_recv_callback(calls, on_data);
    nghttp2_session_callbacks_set_on_stream_close_callback(calls, on_close);
    nghttp2_session_client_new(&session_, calls, this);
    nghttp2_session_callbacks_del(calls);
    const nghttp2_settings_entry settings{NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, window_bytes};
    nghttp2_submit_settings(session_, NGHTTP2_FLAG_NONE, &settings, 1);
    nghttp2_session_set_local_window_size(session_, NGHTTP2_FLAG_NONE, 0, window_bytes);
    if (!thread.options.bearer_token.empty())
      authorization_ = "Bearer " + thread.options.bearer_token;
  }
  ~http2_load() override { nghttp2_session_del(session_); }

  int descriptor() const override { return socket_.descriptor(); }
  std::size_t waiting() const override { return streams_.size(); }

  void start() override {
    while (streams_.size() < thread_.options.streams && ask()) {
    }
    send();
  }

  void on_event() override {
    static thread_local std::array<char, read_bytes> buffer;
    while (const auto got = socket_.read(buffer.data(), buffer.size())) {
      if (nghttp2_session_mem_recv(session_, reinterpret_cast<std::uint8_t*>(buffer.data()), got) <
          0)
        throw std::runtime_error("the server breaks the rules of HTTP/2");
    }
    start();
  }

 private:
  struct stream {
    load_clock::time_point asked;
    int status = 0;
    std::size_t bytes = 0;
    std::string body;  // the rest of the body to send
  };

  static http2_load& self(void* user) { return *static_cast<http2_load*>(user); }

  static nghttp2_nv header(std::string_view name, std::string_view value) {
    return {reinterpret_cast<std::uint8_t*>(const_cast<char*>(name.data())),
            reinterpret_cast<std::uint8_t*>(const_cast<char*>(value.data())), name.size(),
            value.size(), NGHTTP2_NV_FLAG_NONE};
  }

  static ssize_t read_body(nghttp2_session*, std::int32_t, std::uint8_t* into, std::size_t size,
                           std::uint32_t* flags, nghttp2_data_source* source, void*) {
    auto& rest = *static_cast<std::string*>(source->ptr);
    const auto count = std::min(size, rest.size());
    std::memcpy(into, rest.data(), count);
    rest.erase(0, count);
    if (rest.empty()) *flags |= NGHTTP2_DATA_FLAG_EOF;
    return static_cast<ssize_t>(count);
  }

  static int on_header(nghttp2_session*, const nghttp2_frame* frame, const std::uint8_t* name,
                       std::size_t name_size, const std::uint8_t* value, std::size_t size,
                       std::uint8_t, void* user) {
    const std::string_view key(reinterpret_cast<const char*>(name), name_size);
    if (key == ":status")
      self(user).streams_[frame->hd.stream_id].status =
          std::stoi(std::string(reinterpret_cast<const char*>(value), size));
    return 0;
  }

  static int on_data(nghttp2_session*, std::uint8_t, std::int32_t id, const std::uint8_t*,
                     std::size_t size, void* user) {
    self(user).streams_[id].bytes += size;
    return 0;
  }

  static int on_close(nghttp2_session*, std::int32_t id, std::uint32_t, void* user) {
    auto& load = self(user);
    const auto& done = load.streams_[id];
    load.thread_.answered(done.status == 0 ? 599 : done.status, done.bytes, done.asked);
    load.streams_.erase(id);
    return 0;
  }

  bool ask() {
    std::uint64_t number = 0;
    if (!thread_.take(number)) return false;
    auto request = thread_.options.next(number);
    std::array<nghttp2_nv, 7> headers{
        header(":method", request.method), header(":path", request.path),
        header(":scheme", thread_.options.tls ? "https" : "http"),
        header(":authority", thread_.options.host), header("accept", "application/json")};
    std::size_t count = 5;
    if (!authorization_.empty()) headers[count++] = header("authorization", authorization_);
    if (!request.content_type.empty())
      headers[count++] = header("content-type", request.content_type);
    auto& made = streams_[static_cast<std::int32_t>(nghttp2_session_get_next_stream_id(session_))];
    made.asked = load_clock::now();
    made.body = std::move(request.body);
    nghttp2_data_provider source;
    source.source.ptr = &made.body;
    source.read_callback = read_body;
    const bool empty = made.body.empty();
    nghttp2_submit_request(session_, nullptr, headers.data(), count, empty ? nullptr : &source,
                           nullptr);
    return true;
  }

  void send() {
    const std::uint8_t* data = nullptr;
    ssize_t size = 0;
    while ((size = nghttp2_session_mem_send(session_, &data)) > 0)
      socket_.write({reinterpret_cast<const char*>(data), static_cast<std::size_t>(size)});
    socket_.flush();
  }

  load_thread& thread_;
  load_socket socket_;
  std::string authorization_;
  nghttp2_session* session_ = nullptr;
  std::unordered_map<std::int32_t, stream> streams_;
};

}  // namespace

std::unique_ptr<load_connection> make_http2_load(load_thread& thread) {
  return std::make_unique<http2_load>(thread);
}

}  // namespace troupe::bench
