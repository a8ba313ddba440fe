#include "actors/kubelet/runtimes/cri/grpc_channel.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <nghttp2/nghttp2.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <iterator>
#include <map>
#include <optional>

#include "actors/kubelet/runtimes/cri/defaults.hpp"
#include "runtime/unique_fd.hpp"

namespace troupe::actors {

namespace {

constexpr std::size_t prefix_bytes = 5;  // prefix of a message: compressed flag, length

std::string with_prefix(const std::string& message) {
  const auto size = static_cast<std::uint32_t>(message.size());
  std::string out{'\0'};
  for (int shift = 24; shift >= 0; shift -= 8)
    out += static_cast<char>(size >> shift);
  return out + message;
}

// Decodes a grpc-message: %XX stands for a byte.
std::string percent_decoded(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    int byte = 0;
    if (text[i] == '%' && i + 2 < text.size() &&
        std::from_chars(text.data() + i + 1, text.data() + i + 3, byte, 16).ec == std::errc{}) {
      out += static_cast<char>(byte);
      i += 2;
    } else {
      out += text[i];
    }
  }
  return out;
}

nghttp2_nv field(std::string_view name, std::string_view value) {
  const auto bytes = [](std::string_view text) {
    return reinterpret_cast<std::uint8_t*>(const_cast<char*>(text.data()));
  };
  return {bytes(name), bytes(value), name.size(), value.size(), NGHTTP2_NV_FLAG_NONE};
}

// By the code. grpc: codes/code_string.go.
constexpr std::string_view code_names[] = {
    "OK",       "Canceled",       "Unknown",          "InvalidArgument",   "DeadlineExceeded",
    "NotFound", "AlreadyExists",  "PermissionDenied", "ResourceExhausted", "FailedPrecondition",
    "Aborted",  "OutOfRange",     "Unimplemented",    "Internal",          "Unavailable",
    "DataLoss", "Unauthenticated"};

struct pending_call {
  std::string method, request;
  grpc_metadata metadata = {};
  std::optional<std::chrono::milliseconds> timeout = {};
  grpc_answer done = {};
  std::function<void(std::string_view)> message = {};  // callback of a subscription

  std::size_t sent = 0;
  std::string received = {};
  std::optional<grpc_error> status = {};  // from the server, or why the call was aborted
  std::optional<event_loop::moment> deadline = {};
};

runtime::unique_fd connect_to(const std::string& socket) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (socket.size() >= sizeof address.sun_path) return {};
  std::memcpy(address.sun_path, socket.data(), socket.size());
  runtime::unique_fd fd{::socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0)};
  if (!fd || ::connect(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0)
    return {};
  return fd;
}

}  // namespace

std::string text_of(const grpc_error& error) {
  const auto code = static_cast<std::size_t>(error.code);
  return fmt::format(
      "rpc error: code = {} desc = {}",
      code < std::size(code_names) ? std::string{code_names[code]} : fmt::format("Code({})", code),
      error.message);
}

struct grpc_channel::connection : std::enable_shared_from_this<connection> {
  connection(std::shared_ptr<event_loop> on, std::string at)
      : loop{std::move(on)}, socket{std::move(at)} {}
  ~connection() {
    if (session) nghttp2_session_del(session);
  }

  void begin(pending_call call) {
    if (calls.size() >= cri_defaults::calls)
      return finish(call, grpc_error{grpc_code::resource_exhausted,
                                     "too many calls to the container runtime are under way"});
    if (!session && !open())
      return finish(
          call, grpc_error{grpc_code::unavailable,
                           fmt::format("nothing answers at {}: {}", socket, std::strerror(errno))});
    submit(std::move(call));
    flush();
  }

  bool open() {
    fd = connect_to(socket);
    if (!fd) return false;
    write_fd = runtime::unique_fd{::fcntl(fd.get(), F_DUPFD_CLOEXEC, 0)};
    nghttp2_session_callbacks* callbacks = nullptr;
    nghttp2_session_callbacks_new(&callbacks);
    nghttp2_session_callbacks_set_on_header_callback(callbacks, &on_header);
    nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks, &on_data);
    nghttp2_session_callbacks_set_on_stream_close_callback(callbacks, &on_close);
    nghttp2_session_client_new(&session, callbacks, this);
    nghttp2_session_callbacks_del(callbacks);
    const nghttp2_settings_entry settings[] = {
        {NGHTTP2_SETTINGS_ENABLE_PUSH, 0},
        {NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE,
         static_cast<std::uint32_t>(cri_defaults::window_bytes)}};
    nghttp2_submit_settings(session, NGHTTP2_FLAG_NONE, settings, std::size(settings));
    nghttp2_session_set_local_window_size(session, NGHTTP2_FLAG_NONE, 0,
                                          cri_defaults::window_bytes);
    await_input();
    return true;
  }

  void submit(pending_call call) {
    auto held = std::make_unique<pending_call>(std::move(call));
    const auto path = "/" + held->method;
    const auto timeout =
        held->timeout ? std::to_string(held->timeout->count()) + "m" : std::string{};
    std::vector<nghttp2_nv> head{field(":method", "POST"),
                                 field(":scheme", "http"),
                                 field(":path", path),
                                 field(":authority", "localhost"),
                                 field("content-type", "application/grpc"),
                                 field("te", "trailers"),
                                 field("user-agent", "troupe")};
    // The header has at most eight digits.
    if (!timeout.empty() && timeout.size() <= 9) head.push_back(field("grpc-timeout", timeout));
    for (const auto& [name, value] : held->metadata)
      head.push_back(field(name, value));
    nghttp2_data_provider body{{.ptr = held.get()}, &read_request};
    const auto id =
        nghttp2_submit_request(session, nullptr, head.data(), head.size(), &body, held.get());
    if (id < 0) return finish(*held, grpc_error{grpc_code::unavailable, nghttp2_strerror(id)});
    if (held->timeout)
      held->deadline = loop->after(*held->timeout, [weak = weak_from_this(), id] {
        if (const auto self = weak.lock()) self->give_up(id);
      });
    calls.emplace(id, std::move(held));
  }

  void give_up(std::int32_t id) {
    const auto found = calls.find(id);
    if (found == calls.end()) return;
    found->second->deadline.reset();
    found->second->status = {grpc_code::deadline_exceeded,
                             "the container runtime did not answer in time"};
    nghttp2_submit_rst_stream(session, NGHTTP2_FLAG_NONE, id, NGHTTP2_CANCEL);
    flush();
  }

  void finish(pending_call& call, std::optional<grpc_error> error) {
    if (call.deadline) loop->cancel(*call.deadline);
    if (!error && call.received.size() < prefix_bytes)
      error = {grpc_code::internal, "the container runtime sent an empty answer"};
    if (error) return call.done(tl::make_unexpected(std::move(*error)));
    call.done(call.received.substr(prefix_bytes));
  }

  // Fails all pending calls.
  void close(const std::string& reason) {
    if (!session) return;
    loop->forget(fd.get());
    loop->forget(write_fd.get());
    nghttp2_session_del(std::exchange(session, nullptr));
    fd.reset();
    write_fd.reset();
    outgoing.clear();
    for (auto& [id, call] : std::exchange(calls, {}))
      finish(*call, call->status.value_or(grpc_error{grpc_code::unavailable, reason}));
  }

  void await_input() {
    loop->wait(fd.get(), event_loop::readiness::input, [weak = weak_from_this()] {
      if (const auto self = weak.lock()) self->receive();
    });
  }

  void receive() {
    std::uint8_t part[64 << 10];
    const auto n = ::read(fd.get(), part, sizeof part);
    if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR))
      return close("the container runtime has closed the connection");
    if (n > 0 && nghttp2_session_mem_recv(session, part, static_cast<std::size_t>(n)) < 0)
      return close("the container runtime does not speak HTTP/2");
    flush();
    if (session) await_input();
    end_closed();
  }

  void flush() {
    while (session) {
      if (outgoing.empty()) {
        const std::uint8_t* bytes = nullptr;
        const auto n = nghttp2_session_mem_send(session, &bytes);
        if (n < 0) return close("the connection to the container runtime is broken");
        if (n == 0) return end_if_unused();
        outgoing.assign(reinterpret_cast<const char*>(bytes), static_cast<std::size_t>(n));
      }
      const auto n = ::send(write_fd.get(), outgoing.data(), outgoing.size(), MSG_NOSIGNAL);
      if (n > 0) {
        outgoing.erase(0, static_cast<std::size_t>(n));
      } else if (errno == EAGAIN) {
        return loop->wait(write_fd.get(), event_loop::readiness::output, [weak = weak_from_this()] {
          if (const auto self = weak.lock()) self->flush();
        });
      } else if (errno != EINTR) {
        return close("the container runtime has closed the connection");
      }
    }
  }

  // Closes the connection after GOAWAY and its last answer.
  void end_if_unused() {
    if (!nghttp2_session_want_read(session) && !nghttp2_session_want_write(session))
      close("the container runtime has ended the connection");
  }

  // Answers may start new calls, which nghttp2 does not allow within its callbacks.
  void end_closed() {
    for (auto& call : std::exchange(closed, {}))
      finish(*call,
             call->status && call->status->code != grpc_code::ok ? call->status : std::nullopt);
  }

  // -- callbacks of nghttp2 -----------------------------------------------------------------------

  static ssize_t read_request(nghttp2_session*, std::int32_t, std::uint8_t* to, std::size_t room,
                              std::uint32_t* flags, nghttp2_data_source* source, void*) {
    auto& call = *static_cast<pending_call*>(source->ptr);
    const auto n = std::min(room, call.request.size() - call.sent);
    std::memcpy(to, call.request.data() + call.sent, n);
    call.sent += n;
    if (call.sent == call.request.size()) *flags |= NGHTTP2_DATA_FLAG_EOF;
    return static_cast<ssize_t>(n);
  }

  pending_call* find(std::int32_t id) {
    const auto found = calls.find(id);
    return found == calls.end() ? nullptr : found->second.get();
  }

  static int on_header(nghttp2_session*, const nghttp2_frame* frame, const std::uint8_t* name,
                       std::size_t name_size, const std::uint8_t* value, std::size_t value_size,
                       std::uint8_t, void* self) {
    auto* const call = static_cast<connection*>(self)->find(frame->hd.stream_id);
    if (call == nullptr) return 0;
    const std::string_view key{reinterpret_cast<const char*>(name), name_size};
    const std::string_view text{reinterpret_cast<const char*>(value), value_size};
    if (key != "grpc-status" && key != "grpc-message") return 0;
    if (!call->status) call->status.emplace();
    int code = static_cast<int>(grpc_code::unknown);
    if (key == "grpc-message")
      call->status->message = percent_decoded(text);
    else if (std::from_chars(text.data(), text.data() + text.size(), code).ec == std::errc{})
      call->status->code = static_cast<grpc_code>(code);
    return 0;
  }

  static int on_data(nghttp2_session*, std::uint8_t, std::int32_t id, const std::uint8_t* bytes,
                     std::size_t size, void* self) {
    auto* const call = static_cast<connection*>(self)->find(id);
    if (call == nullptr) return 0;
    call->received.append(reinterpret_cast<const char*>(bytes), size);
    if (call->received.size() > cri_defaults::message_bytes + prefix_bytes)
      return NGHTTP2_ERR_CALLBACK_FAILURE;
    while (call->message && call->received.size() >= prefix_bytes) {
      std::size_t length = 0;
      for (std::size_t i = 1; i < prefix_bytes; ++i)
        length = length << 8 | static_cast<std::uint8_t>(call->received[i]);
      if (call->received.size() < prefix_bytes + length) break;
      call->message(std::string_view{call->received}.substr(prefix_bytes, length));
      call->received.erase(0, prefix_bytes + length);
    }
    return 0;
  }

  static int on_close(nghttp2_session*, std::int32_t id, std::uint32_t error, void* context) {
    auto& self = *static_cast<connection*>(context);
    auto call = self.calls.extract(id);
    if (call.empty()) return 0;
    auto& status = call.mapped()->status;
    if (!status)
      status = {grpc_code::unavailable,
                fmt::format("the container runtime ended the call with HTTP/2 error {}", error)};
    self.closed.push_back(std::move(call.mapped()));
    self.loop->defer([weak = self.weak_from_this()] {
      if (const auto held = weak.lock()) held->end_closed();
    });
    return 0;
  }

  const std::shared_ptr<event_loop> loop;
  const std::string socket;
  runtime::unique_fd fd, write_fd;  // of one socket, because the loop has one action per descriptor
  nghttp2_session* session = nullptr;
  std::string outgoing;
  std::map<std::int32_t, std::unique_ptr<pending_call>> calls;
  std::vector<std::unique_ptr<pending_call>> closed;
};

grpc_channel::grpc_channel(std::shared_ptr<event_loop> loop, std::string socket)
    : connection_{std::make_shared<connection>(std::move(loop), std::move(socket))} {}

grpc_channel::~grpc_channel() = default;

void grpc_channel::call(std::string method, std::string request, std::chrono::milliseconds timeout,
                        grpc_answer done) {
  auto call = std::make_shared<pending_call>(pending_call{.method = std::move(method),
                                                          .request = with_prefix(request),
                                                          .timeout = timeout,
                                                          .done = std::move(done)});
  connection_->loop->defer([to = connection_, call] { to->begin(std::move(*call)); });
}

void grpc_channel::subscribe(std::string method, std::string request, grpc_metadata metadata,
                             std::function<void(std::string_view)> message,
                             std::function<void(grpc_error)> ended) {
  auto call = std::make_shared<pending_call>(
      pending_call{.method = std::move(method),
                   .request = with_prefix(request),
                   .metadata = std::move(metadata),
                   .done =
                       [ended = std::move(ended)](auto result) {
                         ended(result ? grpc_error{grpc_code::unavailable, "the stream has ended"}
                                      : result.error());
                       },
                   .message = std::move(message)});
  connection_->loop->defer([to = connection_, call] { to->begin(std::move(*call)); });
}

}  // namespace troupe::actors
