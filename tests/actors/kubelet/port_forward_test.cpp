// Ports of this machine, forwarded for a pod of the process runtime.
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>

#include <thread>

#include "actors/kubelet/os/port_connection.hpp"
#include "actors/kubelet/running_container.hpp"
#include "actors/kubelet/stream_talk.hpp"

namespace troupe::test {

using namespace std::chrono_literals;
using stream = std::unique_ptr<actors::port_stream>;
using runtime::unique_fd;

namespace {

actors::runtime_result<stream> try_forward(running_container& container, const std::string& uid,
                                           int port) {
  std::promise<actors::runtime_result<stream>> answer;
  container.containers->forward_port(
      uid, port, [&](auto connected) { answer.set_value(std::move(connected)); });
  return answer.get_future().get();
}

stream forward(running_container& container, int port) {
  auto connected = try_forward(container, container.uid(), port);
  REQUIRE(connected);
  return std::move(*connected);
}

std::string next(actors::port_stream& stream) {
  std::promise<std::string> part;
  stream.read([&](std::string read) { part.set_value(std::move(read)); });
  return part.get_future().get();
}

// A port of this machine that accepts one connection at a time.
class listener {
 public:
  explicit listener(int family = AF_INET, int backlog = 8)
      : socket_{::socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0)} {
    sockaddr_in6 address{};
    auto* any = reinterpret_cast<sockaddr*>(&address);
    socklen_t size = family == AF_INET ? sizeof(sockaddr_in) : sizeof address;
    address.sin6_family = static_cast<sa_family_t>(family);
    if (family == AF_INET)
      reinterpret_cast<sockaddr_in*>(&address)->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    else
      address.sin6_addr = in6addr_loopback;
    REQUIRE(::bind(socket_.get(), any, size) == 0);
    if (backlog >= 0) REQUIRE(::listen(socket_.get(), backlog) == 0);
    REQUIRE(::getsockname(socket_.get(), any, &size) == 0);
    port = ntohs(address.sin6_port);
  }
  unique_fd accept() const {
    return unique_fd{::accept4(socket_.get(), nullptr, nullptr, SOCK_CLOEXEC)};
  }
  int port = 0;

 private:
  unique_fd socket_;
};

// Until the peer ends.
std::string read_whole(const unique_fd& socket) {
  std::string all;
  char part[4096];
  for (ssize_t n; (n = ::recv(socket.get(), part, sizeof part, 0)) > 0;)
    all.append(part, static_cast<std::size_t>(n));
  return all;
}

void send_whole(const unique_fd& socket, const std::string& text) {
  for (std::size_t done = 0; done < text.size();)
    done += static_cast<std::size_t>(
        std::max<ssize_t>(::send(socket.get(), text.data() + done, text.size() - done, 0), 0));
}

// A port without answers: its queue is full of earlier connections.
struct deaf_port {
  deaf_port() {
    for (int i = 0; i < 4; ++i) {
      waiting.emplace_back(::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
      sockaddr_in address{};
      address.sin_family = AF_INET;
      address.sin_port = htons(static_cast<std::uint16_t>(port.port));
      address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
      ::connect(waiting.back().get(), reinterpret_cast<const sockaddr*>(&address), sizeof address);
    }
  }
  listener port{AF_INET, 0};
  std::vector<unique_fd> waiting;
};

}  // namespace

TEST_CASE("a forwarded port is read and written to the end of each side", "[kubelet]") {
  running_container container{"exec sleep 300"};
  const int family = GENERATE(AF_INET, AF_INET6);
  const listener port{family};
  std::string heard;
  const std::string answer(1'000'000, 'y');
  std::thread other{[&] {
    const auto socket = port.accept();
    heard = read_whole(socket);
    send_whole(socket, answer);
  }};
  const auto connected = forward(container, port.port);
  CHECK(say(*connected, std::string(1'000'000, 'x')));
  CHECK(say(*connected, "last"));
  connected->close_input();
  std::string all;
  for (std::string part; !(part = next(*connected)).empty();)
    all += part;
  other.join();
  CHECK(heard == std::string(1'000'000, 'x') + "last");
  CHECK(all == answer);
  CHECK(next(*connected).empty());
  CHECK_FALSE(say(*connected, "more"));
}

TEST_CASE("a write to a port waits until the other side reads, and ends with it", "[kubelet]") {
  running_container container{"exec sleep 300"};
  const listener port;
  const auto connected = forward(container, port.port);
  auto other = port.accept();
  std::promise<bool> taken;
  auto answer = taken.get_future();
  connected->write(std::string(64 << 20, 'x'), [&](bool well) { taken.set_value(well); });
  // The other direction is open.
  send_whole(other, "hello");
  CHECK(next(*connected) == "hello");
  CHECK(answer.wait_for(0s) == std::future_status::timeout);
  other.reset();
  CHECK_FALSE(answer.get());
}

TEST_CASE("a connection is closed with its stream, even during a pending operation", "[kubelet]") {
  running_container container{"exec sleep 300"};
  const listener port;
  auto connected = forward(container, port.port);
  const auto other = port.accept();
  connected->read([](const std::string&) { FAIL("nobody has said anything"); });
  connected.reset();
  CHECK(read_whole(other).empty());
}

TEST_CASE("a port without a listener is refused with upstream's message", "[kubelet]") {
  running_container container{"exec sleep 300"};
  const listener port{AF_INET, -1};
  const auto refused = try_forward(container, container.uid(), port.port);
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code == actors::runtime_error::kind::failed);
  CHECK(refused.error().message == "failed to connect to localhost:" + std::to_string(port.port) +
                                       " inside namespace \"" + container.uid() +
                                       "\", IPv4: connection refused IPv6: connection refused");
  CHECK(try_forward(container, container.uid(), 65'536).error().message == "65536 is not a port");
}

TEST_CASE("only a pod with a running container has ports", "[kubelet]") {
  running_container container{"exec sleep 300"};
  const listener port;
  const auto message = [&](const std::string& uid) {
    const auto answer = try_forward(container, uid, port.port);
    REQUIRE_FALSE(answer);
    CHECK(answer.error().code == actors::runtime_error::kind::not_found);
    return answer.error().message;
  };
  CHECK(message("other") == "no container of pod \"other\" is running");
  container.containers->stop_container(container.id, {}, {});
  container.ended.wait();
  CHECK(message(container.uid()) == "no container of pod \"" + container.uid() + "\" is running");
}

TEST_CASE("a port that does not answer is given up in time", "[kubelet]") {
  const deaf_port port;
  const auto loop = std::make_shared<actors::event_loop>();
  std::promise<std::string> answer;
  actors::connect_port(loop, port.port.port, 50ms,
                       [&](auto connected) { answer.set_value(connected.error()); });
  CHECK(answer.get_future().get() == "IPv4: connection timed out");
  loop->stop();  // not on its own thread
}

TEST_CASE("a connection that is pending when the runtime ends gets no answer", "[kubelet]") {
  const deaf_port port;
  bool heard = false;
  {
    running_container container{"exec sleep 300"};
    container.containers->forward_port(container.uid(), port.port.port,
                                       [&](const auto&) { heard = true; });
    // It was requested before this answer, in the same turn of the loop.
    CHECK(try_forward(container, container.uid(), listener{AF_INET, -1}.port).error().code ==
          actors::runtime_error::kind::failed);
    container.restart_runtime();
  }
  CHECK_FALSE(heard);
}

}  // namespace troupe::test
