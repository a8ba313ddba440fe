#include "actors/kubelet/os/port_connection.hpp"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <cctype>
#include <cerrno>
#include <cstring>
#include <utility>
#include <vector>

#include "actors/kubelet/os/duplex_socket.hpp"

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
    loop_->defer([socket = std::move(socket_)] { socket->close(); });
  }

  void read(std::function<void(std::string)> done) override {
    loop_->defer(
        [socket = socket_, done = std::move(done)]() mutable { socket->read(std::move(done)); });
  }
  void write(std::string bytes, std::function<void(bool)> done) override {
    loop_->defer([socket = socket_, bytes = std::move(bytes), done = std::move(done)]() mutable {
      std::deque<std::string> parts;
      if (!bytes.empty()) parts.push_back(std::move(bytes));
      socket->write(std::move(parts), std::move(done));
    });
  }
  void close_input() override {
    loop_->defer([socket = socket_] { socket->shut_output(); });
  }

 private:
  const std::shared_ptr<event_loop> loop_;
  std::shared_ptr<duplex_socket> socket_;
};

// In Go's words, which clients look for: "connection refused".
std::string text_of(int code) {
  std::string text = std::strerror(code);
  text.front() = static_cast<char>(std::tolower(static_cast<unsigned char>(text.front())));
  return text;
}

struct place {
  std::string name;  // prefix of the system's error
  sockaddr_storage address;
};

place ipv4_place(std::string name, const in_addr& address, int port) {
  place made{.name = std::move(name), .address = {}};
  auto& to = reinterpret_cast<sockaddr_in&>(made.address);
  to.sin_family = AF_INET;
  to.sin_port = htons(static_cast<std::uint16_t>(port));
  to.sin_addr = address;
  return made;
}

place ipv6_place(std::string name, const in6_addr& address, int port) {
  place made{.name = std::move(name), .address = {}};
  auto& to = reinterpret_cast<sockaddr_in6&>(made.address);
  to.sin6_family = AF_INET6;
  to.sin6_port = htons(static_cast<std::uint16_t>(port));
  to.sin6_addr = address;
  return made;
}

// Tries one address after another. A pending wait of the loop keeps it alive.
class connecting : public std::enable_shared_from_this<connecting> {
 public:
  connecting(std::shared_ptr<event_loop> loop, std::vector<place> places, answer done)
      : loop_{std::move(loop)}, places_{std::move(places)}, done_{std::move(done)} {}

  void start(std::chrono::milliseconds patience) {
    deadline_ = loop_->after(patience, [self = shared_from_this()] {
      self->refused(ETIMEDOUT);
      self->give_up();
    });
    connect();
  }

 private:
  void connect() {
    const auto& to = places_[at_].address;
    socket_ =
        runtime::unique_fd{::socket(to.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0)};
    const auto size = to.ss_family == AF_INET ? sizeof(sockaddr_in) : sizeof(sockaddr_in6);
    if (!socket_ || (::connect(socket_.get(), reinterpret_cast<const sockaddr*>(&to),
                               static_cast<socklen_t>(size)) != 0 &&
                     errno != EINPROGRESS))
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
    problems_ +=
        fmt::format("{}{}: {}", problems_.empty() ? "" : " ", places_[at_].name, text_of(code));
    if (socket_) loop_->forget(socket_.get());
    socket_.reset();
  }

  void next(int code) {
    refused(code);
    ++at_ < places_.size() ? connect() : give_up();
  }

  void give_up() {
    loop_->cancel(deadline_);
    std::exchange(done_, {})(tl::make_unexpected(std::move(problems_)));
  }

  const std::shared_ptr<event_loop> loop_;
  const std::vector<place> places_;
  std::size_t at_ = 0;
  answer done_;
  runtime::unique_fd socket_;
  std::string problems_;
  event_loop::moment deadline_;
};

void connect_to(std::shared_ptr<event_loop> loop, std::vector<place> places,
                std::chrono::milliseconds patience, answer done) {
  loop->defer([loop, patience,
               attempt = std::make_shared<connecting>(loop, std::move(places), std::move(done))] {
    attempt->start(patience);
  });
}

}  // namespace

void connect_port(std::shared_ptr<event_loop> loop, int port, std::chrono::milliseconds patience,
                  answer done) {
  connect_to(std::move(loop),
             {ipv4_place("IPv4", {htonl(INADDR_LOOPBACK)}, port),
              ipv6_place("IPv6", in6addr_loopback, port)},
             patience, std::move(done));
}

void connect_address(std::shared_ptr<event_loop> loop, const std::string& address, int port,
                     std::chrono::milliseconds patience, answer done) {
  in_addr ipv4{};
  in6_addr ipv6{};
  // In Go's words.
  if (::inet_pton(AF_INET, address.c_str(), &ipv4) == 1) {
    auto name = fmt::format("dial tcp {}:{}: connect", address, port);
    return connect_to(std::move(loop), {ipv4_place(std::move(name), ipv4, port)}, patience,
                      std::move(done));
  }
  if (::inet_pton(AF_INET6, address.c_str(), &ipv6) == 1) {
    auto name = fmt::format("dial tcp [{}]:{}: connect", address, port);
    return connect_to(std::move(loop), {ipv6_place(std::move(name), ipv6, port)}, patience,
                      std::move(done));
  }
  done(tl::make_unexpected(fmt::format("dial tcp: address {}: missing or no address", address)));
}

}  // namespace troupe::actors
