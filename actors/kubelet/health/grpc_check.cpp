#include "actors/kubelet/health/grpc_check.hpp"

#include <fmt/format.h>
#include <nghttp2/nghttp2.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <optional>
#include <string>

#include "actors/kubelet/defaults.hpp"
#include "actors/kubelet/os/timed_socket.hpp"

namespace troupe::actors {

namespace {

constexpr const char* no_such_method = "12";
constexpr std::size_t prefix_bytes = 5;  // prefix of a message: compressed flag, length
constexpr std::uint8_t status_field = 0x08, service_field = 0x0a;  // of HealthCheck…

using session_ptr = std::unique_ptr<nghttp2_session, decltype(&nghttp2_session_del)>;

nghttp2_nv field(std::string_view name, std::string_view value) {
  const auto bytes = [](std::string_view text) {
    return reinterpret_cast<std::uint8_t*>(const_cast<char*>(text.data()));
  };
  return {bytes(name), bytes(value), name.size(), value.size(), NGHTTP2_NV_FLAG_NONE};
}

void append_varint(std::string& to, std::size_t value) {
  for (; value >= 0x80; value >>= 7)
    to += static_cast<char>(value | 0x80);
  to += static_cast<char>(value);
}

std::string request_of(const std::string& service) {
  std::string message;
  if (!service.empty()) {
    message += static_cast<char>(service_field);
    append_varint(message, service.size());
    message += service;
  }
  std::string framed{'\0'};
  for (int shift = 24; shift >= 0; shift -= 8)
    framed += static_cast<char>(message.size() >> shift);
  return framed + message;
}

// A call and its result.
struct health_call {
  std::string request;
  std::size_t sent = 0;
  std::string received = {}, code = {}, message = {};
  bool ended = false;
};

ssize_t read_request(nghttp2_session*, std::int32_t, std::uint8_t* to, std::size_t room,
                     std::uint32_t* flags, nghttp2_data_source*, void* context) {
  auto& call = *static_cast<health_call*>(context);
  const auto n = std::min(room, call.request.size() - call.sent);
  std::memcpy(to, call.request.data() + call.sent, n);
  call.sent += n;
  if (call.sent == call.request.size()) *flags |= NGHTTP2_DATA_FLAG_EOF;
  return static_cast<ssize_t>(n);
}

int on_header(nghttp2_session*, const nghttp2_frame*, const std::uint8_t* name,
              std::size_t name_size, const std::uint8_t* value, std::size_t value_size,
              std::uint8_t, void* context) {
  auto& call = *static_cast<health_call*>(context);
  const std::string_view key{reinterpret_cast<const char*>(name), name_size};
  const std::string text{reinterpret_cast<const char*>(value), value_size};
  if (key == "grpc-status") call.code = text;
  if (key == "grpc-message") call.message = text;
  return 0;
}

int on_data(nghttp2_session*, std::uint8_t, std::int32_t, const std::uint8_t* bytes,
            std::size_t size, void* context) {
  auto& call = *static_cast<health_call*>(context);
  call.received.append(reinterpret_cast<const char*>(bytes), size);
  return call.received.size() > kubelet_defaults::check_output_bytes ? NGHTTP2_ERR_CALLBACK_FAILURE
                                                                     : 0;
}

int on_close(nghttp2_session*, std::int32_t, std::uint32_t, void* context) {
  static_cast<health_call*>(context)->ended = true;
  return 0;
}

session_ptr make_session(health_call& call) {
  nghttp2_session_callbacks* callbacks = nullptr;
  nghttp2_session_callbacks_new(&callbacks);
  nghttp2_session_callbacks_set_on_header_callback(callbacks, &on_header);
  nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks, &on_data);
  nghttp2_session_callbacks_set_on_stream_close_callback(callbacks, &on_close);
  nghttp2_session* session = nullptr;
  nghttp2_session_client_new(&session, callbacks, &call);
  nghttp2_session_callbacks_del(callbacks);
  nghttp2_submit_settings(session, NGHTTP2_FLAG_NONE, nullptr, 0);
  return {session, &nghttp2_session_del};
}

// The error says why there is no answer.
tl::expected<void, std::string> talk(timed_socket& socket, nghttp2_session* session,
                                     const health_call& call) {
  while (!call.ended) {
    const std::uint8_t* bytes = nullptr;
    const auto n = nghttp2_session_mem_send(session, &bytes);
    if (n > 0) {
      const auto sent =
          socket.write({reinterpret_cast<const char*>(bytes), static_cast<std::size_t>(n)});
      if (!sent) return sent;
      continue;
    }
    const auto part = n < 0 ? tl::expected<std::string, std::string>{} : socket.read_part();
    if (!part) return tl::make_unexpected(part.error());
    if (part->empty() ||
        nghttp2_session_mem_recv(session, reinterpret_cast<const std::uint8_t*>(part->data()),
                                 part->size()) < 0)
      return tl::make_unexpected(std::string{"the server does not speak gRPC"});
  }
  return {};
}

// The status in a HealthCheckResponse; nothing if its format is unknown.
std::optional<int> status_of(const std::string& received) {
  if (received.size() < prefix_bytes || received.front() != '\0') return std::nullopt;
  const auto message = received.substr(prefix_bytes);
  if (message.empty()) return 0;
  if (message.size() != 2 || message[0] != static_cast<char>(status_field)) return std::nullopt;
  return message[1];
}

health_result evaluate(const health_call& call) {
  if (call.code == no_such_method)
    return {check_status::failure,
            "error: this server does not implement the grpc health protocol "
            "(grpc.health.v1.Health): " +
                call.message};
  const auto status = status_of(call.received);
  if (call.code != "0" || !status)
    return {check_status::failure, "error: health rpc probe failed: " + call.message};
  static constexpr const char* names[] = {"UNKNOWN", "SERVING", "NOT_SERVING", "SERVICE_UNKNOWN"};
  if (*status == 1) return {check_status::success, "service healthy"};
  const bool known = *status >= 0 && *status < static_cast<int>(std::size(names));
  return {check_status::failure, fmt::format("service unhealthy (responded with \"{}\")",
                                             known ? names[*status] : std::to_string(*status))};
}

}  // namespace

health_result grpc_check(const grpc_action& check, runtime::duration timeout, int cancel) {
  const bool six = check.host.find(':') != std::string::npos;
  const auto address =
      fmt::format("{}{}{}:{}", six ? "[" : "", check.host, six ? "]" : "", check.port);
  const auto deadline = timed_socket::clock::now() + timeout;
  auto socket = timed_socket::connect(check.host, check.port, deadline, cancel);
  if (!socket)
    return {check_status::failure,
            fmt::format("error: failed to connect service at \"{}\": {}", address, socket.error())};
  health_call call{.request = request_of(check.service)};
  const auto session = make_session(call);
  const nghttp2_nv head[] = {field(":method", "POST"),
                             field(":scheme", "http"),
                             field(":path", "/grpc.health.v1.Health/Check"),
                             field(":authority", address),
                             field("content-type", "application/grpc"),
                             field("te", "trailers"),
                             field("user-agent", "kube-probe/troupe")};
  const nghttp2_data_provider body{{}, &read_request};
  if (nghttp2_submit_request(session.get(), nullptr, head, std::size(head), &body, nullptr) < 0)
    return {check_status::unknown, "the request cannot be made"};
  if (const auto done = talk(*socket, session.get(), call); !done) {
    if (timed_socket::clock::now() < deadline)
      return {check_status::failure, "error: health rpc probe failed: " + done.error()};
    const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(timeout).count();
    return {check_status::failure,
            fmt::format("timeout: health rpc did not complete within {}s", seconds)};
  }
  return evaluate(call);
}

}  // namespace troupe::actors
