#include "support/http2_client.hpp"

#include <nghttp2/nghttp2.h>

#include <algorithm>
#include <cstring>
#include <vector>

namespace troupe::test {
namespace {

nghttp2_nv header(const std::string& name, const std::string& value) {
  return {reinterpret_cast<std::uint8_t*>(const_cast<char*>(name.data())),
          reinterpret_cast<std::uint8_t*>(const_cast<char*>(value.data())), name.size(),
          value.size(), NGHTTP2_NV_FLAG_NONE};
}

wire_options with_http2(wire_options options) {
  options.protocols = {"h2"};
  return options;
}

}  // namespace

struct http2_client_callbacks {
  static http2_client& self(void* user) { return *static_cast<http2_client*>(user); }

  static int header(nghttp2_session*, const nghttp2_frame* frame, const std::uint8_t* name,
                    std::size_t name_size, const std::uint8_t* value, std::size_t value_size,
                    std::uint8_t, void* user) {
    auto& answer = self(user).exchanges_[frame->hd.stream_id].answer;
    const std::string key(reinterpret_cast<const char*>(name), name_size);
    const std::string text(reinterpret_cast<const char*>(value), value_size);
    if (key == ":status") {
      answer.status = std::stoi(text);
    } else {
      answer.headers[key] = text;
    }
    return 0;
  }

  static int data(nghttp2_session*, std::uint8_t, std::int32_t id, const std::uint8_t* bytes,
                  std::size_t size, void* user) {
    self(user).exchanges_[id].answer.body.append(reinterpret_cast<const char*>(bytes), size);
    return 0;
  }

  static int frame(nghttp2_session*, const nghttp2_frame* frame, void* user) {
    auto& client = self(user);
    if (frame->hd.type == NGHTTP2_GOAWAY) {
      client.goaway_ = true;
      client.goaway_code_ = frame->goaway.error_code;
    }
    if (frame->hd.type == NGHTTP2_RST_STREAM) client.exchanges_[frame->hd.stream_id].reset = true;
    if (frame->hd.type == NGHTTP2_PING) client.pong_ = true;
    return 0;
  }

  static int closed(nghttp2_session*, std::int32_t id, std::uint32_t code, void* user) {
    auto& exchange = self(user).exchanges_[id];
    exchange.ended = true;
    exchange.error_code = code;
    return 0;
  }

  static ssize_t body(nghttp2_session*, std::int32_t, std::uint8_t* into, std::size_t size,
                      std::uint32_t* flags, nghttp2_data_source* source, void*) {
    auto& rest = *static_cast<std::string*>(source->ptr);
    if (rest.empty()) return NGHTTP2_ERR_DEFERRED;
    const auto count = std::min(size, rest.size());
    std::memcpy(into, rest.data(), count);
    rest.erase(0, count);
    if (rest.empty()) *flags |= NGHTTP2_DATA_FLAG_EOF;
    return static_cast<ssize_t>(count);
  }
};

http2_client::http2_client(wire_options options, std::uint32_t window_bytes)
    : wire_{with_http2(std::move(options))} {
  nghttp2_session_callbacks* calls = nullptr;
  nghttp2_session_callbacks_new(&calls);
  nghttp2_session_callbacks_set_on_header_callback(calls, http2_client_callbacks::header);
  nghttp2_session_callbacks_set_on_data_chunk_recv_callback(calls, http2_client_callbacks::data);
  nghttp2_session_callbacks_set_on_frame_recv_callback(calls, http2_client_callbacks::frame);
  nghttp2_session_callbacks_set_on_stream_close_callback(calls, http2_client_callbacks::closed);
  // If a window is set, only the bytes that the test consumes are credited.
  nghttp2_option* choices = nullptr;
  nghttp2_option_new(&choices);
  if (window_bytes > 0) nghttp2_option_set_no_auto_window_update(choices, 1);
  nghttp2_session_client_new2(&session_, calls, this, choices);
  nghttp2_option_del(choices);
  nghttp2_session_callbacks_del(calls);
  const nghttp2_settings_entry window{NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, window_bytes};
  nghttp2_submit_settings(session_, NGHTTP2_FLAG_NONE, &window, window_bytes > 0 ? 1 : 0);
}

http2_client::~http2_client() {
  nghttp2_session_del(session_);
}

std::int32_t http2_client::start(const std::string& method, const std::string& path,
                                 std::string body, const http_client::fields& headers) {
  static const std::string names[] = {":method", ":path", ":scheme", ":authority", "https", "test"};
  std::vector<nghttp2_nv> all{header(names[0], method), header(names[1], path),
                              header(names[2], names[4]), header(names[3], names[5])};
  for (const auto& [name, value] : headers)
    all.push_back(header(name, value));
  const auto id = nghttp2_session_get_next_stream_id(session_);
  auto& stored = bodies_[static_cast<std::int32_t>(id)];
  stored = std::move(body);
  const bool with_body = !stored.empty() || headers.count("content-length") != 0;
  nghttp2_data_provider source;
  source.source.ptr = &stored;
  source.read_callback = http2_client_callbacks::body;
  return nghttp2_submit_request(session_, nullptr, all.data(), all.size(),
                                with_body ? &source : nullptr, nullptr);
}

void http2_client::reset(std::int32_t id) {
  nghttp2_submit_rst_stream(session_, NGHTTP2_FLAG_NONE, id, NGHTTP2_CANCEL);
}

bool http2_client::flush() {
  const std::uint8_t* data = nullptr;
  for (;;) {
    const auto size = nghttp2_session_mem_send(session_, &data);
    if (size < 0) return false;
    if (size == 0) return true;
    if (!wire_.send({reinterpret_cast<const char*>(data), static_cast<std::size_t>(size)}))
      return false;
  }
}

bool http2_client::run(const std::function<bool()>& done) {
  while (flush() && !done()) {
    const auto bytes = wire_.receive();
    if (bytes.empty()) break;
    if (nghttp2_session_mem_recv(session_, reinterpret_cast<const std::uint8_t*>(bytes.data()),
                                 bytes.size()) < 0)
      break;
  }
  return done();
}

http_answer http2_client::request(const std::string& method, const std::string& path,
                                  std::string body, const http_client::fields& headers) {
  const auto id = start(method, path, std::move(body), headers);
  run([&] { return exchanges_[id].ended; });
  return exchanges_[id].answer;
}

bool http2_client::ping() {
  pong_ = false;
  nghttp2_submit_ping(session_, NGHTTP2_FLAG_NONE, nullptr);
  return run([&] { return pong_; });
}

}  // namespace troupe::test
