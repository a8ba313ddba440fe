#include "actors/kubelet/runtimes/process/streams/port_connection.hpp"

#include <fmt/format.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <cctype>
#include <cerrno>
#include <cstring>
#include <utility>

#include "actors/kubelet/runtimes/process/streams/duplex_socket.hpp"

namespace troupe::actors {

namespace {

using answer = std::function<void(tl::expected<std::unique_ptr<port_stream>, std::string>)>;

class port_connection final : public port_stream {
 public:
  port_connection(std::shared_ptr<event_loop> loop, runtime::unique_fd socket)
      : loop_{loop},
        socket_{std::make_shared<duplex_socket>(loop, std::move(socket),
                                                kubelet_defaults::stream_part_bytes)} {}
  ~port_connection() override {
    loop_->soon([socket = std::move(socket_)] { socket->close(); });
  }

  void read(std::function<void(std::string)> done) override {
    loop_->soon(
        [socket = socket_, done = std::move(done)]() mutable { socket->read(std::move(done)); });
  }
  void write(std::string bytes, std::function<void(bool)> done) override {
    loop_->soon([socket = socket_, bytes = std::move(bytes), done = std::move(done)]() mutable {
      std::deque<std::string> parts;
      if (!bytes.empty()) parts.push_back(std::move(bytes));
      socket->write(std::move(parts), std::move(done));
    });
  }
  void close_input() override {
    loop_->soon([socket = socket_] { socket->shut_output(); });
  }

 private:
  const std::shared_ptr<event_loop> loop_;
  std::shared_ptr<duplex_socket> socket_;
};

// As Go words it, and clients look for: "connection refused".
std::string text_of(int code) {
  std::string text = std::strerror(code);
  text.front() = static_cast<char>(std::tolower(static_cast<unsigned char>(text.front())));
  return text;
}

// What the loop waits for keeps it alive.
class connecting : public std::enable_shared_from_this<connecting> {
 public:
  connecting(std::shared_ptr<event_loop> loop, int port, answer done)
      : loop_{std::move(loop)},
        port_{htons(static_cast<std::uint16_t>(port))},
        done_{std::move(done)} {}

  void start(std::chrono::milliseconds patience) {
    deadline_ = loop_->after(patience, [self = shared_from_this()] {
      self->refused(ETIMEDOUT);
      self->give_up();
    });
    try_ipv4();
  }

 private:
  void try_ipv4() {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = port_;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    connect(AF_INET, reinterpret_cast<const sockaddr*>(&address), sizeof address);
  }

  void try_ipv6() {
    sockaddr_in6 address{};
    address.sin6_family = AF_INET6;
    address.sin6_port = port_;
    address.sin6_addr = in6addr_loopback;
    connect(AF_INET6, reinterpret_cast<const sockaddr*>(&address), sizeof address);
  }

  void connect(int family, const sockaddr* address, socklen_t size) {
    socket_ = runtime::unique_fd{::socket(family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0)};
    if (!socket_ || (::connect(socket_.get(), address, size) != 0 && errno != EINPROGRESS))
      return next(errno);
    loop_->wait(socket_.get(), event_loop::readiness::output,
                [self = shared_from_this()] { self->look(); });
  }

  void look() {
    int code = 0;
    socklen_t size = sizeof code;
    ::getsockopt(socket_.get(), SOL_SOCKET, SO_ERROR, &code, &size);
    if (code != 0) return next(code);
    loop_->cancel(deadline_);
    loop_->forget(socket_.get());
    const int at_once = 1;
    ::setsockopt(socket_.get(), IPPROTO_TCP, TCP_NODELAY, &at_once, sizeof at_once);
    std::exchange(done_, {})(std::make_unique<port_connection>(loop_, std::move(socket_)));
  }

  void refused(int code) {
    problems_ += fmt::format("{}IPv{}: {}", problems_.empty() ? "" : " ", problems_.empty() ? 4 : 6,
                             text_of(code));
    if (socket_) loop_->forget(socket_.get());
    socket_.reset();
  }

  void next(int code) {
    const bool first = problems_.empty();
    refused(code);
    first ? try_ipv6() : give_up();
  }

  void give_up() {
    loop_->cancel(deadline_);
    std::exchange(done_, {})(tl::make_unexpected(std::move(problems_)));
  }

  const std::shared_ptr<event_loop> loop_;
  const in_port_t port_;
  answer done_;
  runtime::unique_fd socket_;
  std::string problems_;
  event_loop::moment deadline_;
};

}  // namespace

void connect_port(std::shared_ptr<event_loop> loop, int port, std::chrono::milliseconds patience,
                  answer done) {
  loop->soon([loop, patience, attempt = std::make_shared<connecting>(loop, port, std::move(done))] {
    attempt->start(patience);
  });
}

}  // namespace troupe::actors
