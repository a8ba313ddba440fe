// The network of the tests with several machines: it must behave as they configure it.
#include "system/network/virtual_switch.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/ip_icmp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <chrono>
#include <csignal>
#include <memory>
#include <optional>
#include <thread>

#include "support/programs/eventually.hpp"
#include "support/programs/process.hpp"
#include "support/scratch_folder.hpp"
#include "support/wire.hpp"
#include "system/network/network_space.hpp"

using namespace troupe::test;
using namespace std::chrono_literals;

namespace {

struct three {
  three() {
    network.plug(a, 1);
    network.plug(b, 2);
    network.plug(c, 3);
  }
  network_space a, b, c;
  virtual_switch network{7};
};

sockaddr_in address_of(unsigned number, std::uint16_t port) {
  sockaddr_in out{};
  out.sin_family = AF_INET;
  out.sin_port = htons(port);
  ::inet_pton(AF_INET, virtual_switch::address_of(number).c_str(), &out.sin_addr);
  return out;
}

// A socket of that kind in a namespace, closed with this object.
class endpoint {
 public:
  endpoint(const network_space& in, int type, int protocol = 0) {
    in.run([&] { handle = ::socket(AF_INET, type | SOCK_CLOEXEC, protocol); });
    REQUIRE(handle >= 0);
  }
  ~endpoint() { ::close(handle); }
  endpoint(const endpoint&) = delete;
  endpoint& operator=(const endpoint&) = delete;

  void listen_at(unsigned number, std::uint16_t port) {
    const auto at = address_of(number, port);
    REQUIRE(::bind(handle, reinterpret_cast<const sockaddr*>(&at), sizeof at) == 0);
  }
  void send_to(unsigned number, std::uint16_t port, std::string_view bytes) {
    const auto to = address_of(number, port);
    ::sendto(handle, bytes.data(), bytes.size(), 0, reinterpret_cast<const sockaddr*>(&to),
             sizeof to);
  }
  std::optional<std::string> receive(std::chrono::milliseconds limit) {
    pollfd waiting{handle, POLLIN, 0};
    if (::poll(&waiting, 1, static_cast<int>(limit.count())) != 1) return std::nullopt;
    std::string out(2'000, '\0');
    const auto size = ::recv(handle, out.data(), out.size(), 0);
    out.resize(size > 0 ? static_cast<std::size_t>(size) : 0);
    return out;
  }
  int handle = -1;
};

// The round-trip time of a ping that the other kernel answers.
std::optional<std::chrono::milliseconds> ping(const network_space& from, unsigned number,
                                              std::chrono::milliseconds limit = 60s) {
  endpoint raw{from, SOCK_RAW, IPPROTO_ICMP};
  icmphdr question{};
  question.type = ICMP_ECHO;
  question.un.echo.id = htons(77);
  question.checksum = static_cast<std::uint16_t>(~(ICMP_ECHO + htons(77)));
  const auto begin = std::chrono::steady_clock::now();
  raw.send_to(number, 0, {reinterpret_cast<const char*>(&question), sizeof question});
  // After the packet's IP header; a raw socket receives all packets.
  while (const auto packet = raw.receive(limit)) {
    if (packet->size() < 28 || static_cast<std::uint8_t>((*packet)[20]) != ICMP_ECHOREPLY) continue;
    return std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now() -
                                                                 begin);
  }
  return std::nullopt;
}

// A megabyte over TCP from machine 1 to machine 2; true if all of it arrives unchanged.
bool megabyte(const three& machines) {
  endpoint listener{machines.b, SOCK_STREAM};
  listener.listen_at(2, 7'000);
  ::listen(listener.handle, 1);
  std::string sent(1 << 20, '\0');
  for (std::size_t i = 0; i < sent.size(); ++i)
    sent[i] = static_cast<char>(i * 31 % 251);
  std::string received;
  std::thread reader{[&] {
    const int accepted = ::accept(listener.handle, nullptr, nullptr);
    char part[8'192];
    for (ssize_t n = 0; (n = ::recv(accepted, part, sizeof part, 0)) > 0;)
      received.append(part, static_cast<std::size_t>(n));
    ::close(accepted);
  }};
  bool gone = false;
  machines.a.run([&] {
    wire_options to;
    to.host = virtual_switch::address_of(2);
    to.port = 7'000;
    to.tls = false;
    to.timeout = 60s;
    wire out{to};
    gone = out.send(sent);
    out.end_sending();
  });
  reader.join();
  return gone && received == sent;
}

}  // namespace

TEST_CASE("machines on the switch reach each other, and nobody from outside", "[network]") {
  if (!network_space::possible()) return;
  three machines;
  CHECK(ping(machines.a, 2));
  CHECK(ping(machines.c, 1));
  CHECK(megabyte(machines));
  CHECK(machines.network.counted(1, 2).passed > 700);
  CHECK(machines.network.counted(1, 2).overflowed == 0);
  const network_space outside;
  CHECK_FALSE(ping(outside, 1, 200ms));
}

TEST_CASE("a cut in one direction stops that direction alone", "[network]") {
  if (!network_space::possible()) return;
  three machines;
  REQUIRE(ping(machines.a, 2));
  machines.network.set(1, 2, {.cut = true});
  endpoint at_a{machines.a, SOCK_DGRAM};
  at_a.listen_at(1, 9'000);
  endpoint at_b{machines.b, SOCK_DGRAM};
  at_b.listen_at(2, 9'000);
  at_b.send_to(1, 9'000, "this way");
  CHECK(at_a.receive(60s) == "this way");
  at_a.send_to(2, 9'000, "that way");
  CHECK_FALSE(at_b.receive(200ms));
  CHECK_FALSE(ping(machines.b, 1, 200ms));
  CHECK(ping(machines.a, 3));
  CHECK(eventually([&] { return machines.network.counted(1, 2).cut >= 2; }));
  machines.network.heal();
  CHECK(ping(machines.b, 1));
}

TEST_CASE("a machine alone reaches nobody until the network is healed", "[network]") {
  if (!network_space::possible()) return;
  three machines;
  machines.network.isolate(2);
  CHECK_FALSE(ping(machines.a, 2, 200ms));
  CHECK_FALSE(ping(machines.b, 3, 200ms));
  CHECK(ping(machines.a, 3));
  machines.network.heal();
  CHECK(ping(machines.b, 3));
}

TEST_CASE("a delay holds for each frame of its direction", "[network]") {
  if (!network_space::possible()) return;
  three machines;
  REQUIRE(ping(machines.a, 2));
  machines.network.set_both(1, 2, {.delay = 60ms});
  const auto took = ping(machines.a, 2);
  REQUIRE(took);
  CHECK(*took >= 120ms);
  // A busy machine may delay any of them.
  const auto takes_less = [&](unsigned number, std::chrono::milliseconds than) {
    return eventually([&] {
      const auto each = ping(machines.a, number);
      return each && *each < than;
    });
  };
  CHECK(takes_less(2, 1s));
  machines.network.set(2, 1, {});
  const auto one_way = ping(machines.a, 2);
  REQUIRE(one_way);
  CHECK(*one_way >= 60ms);
  CHECK(takes_less(3, 60ms));
}

TEST_CASE("loss comes near what was asked for, and TCP gets through it", "[network]") {
  if (!network_space::possible()) return;
  three machines;
  REQUIRE(ping(machines.a, 2));
  machines.network.set(1, 2, {.loss = 0.2});
  endpoint from{machines.a, SOCK_DGRAM};
  const auto before = machines.network.counted(1, 2);
  for (int i = 0; i < 2'000; ++i)
    from.send_to(2, 9'000, "x");
  const auto deadline = std::chrono::steady_clock::now() + 60s;
  auto now = machines.network.counted(1, 2);
  while (now.lost + now.passed < before.passed + 2'000 &&
         std::chrono::steady_clock::now() < deadline)
    now = machines.network.counted(1, 2);
  CHECK(now.lost > 300);
  CHECK(now.lost < 500);
  machines.network.set_both(1, 2, {.delay = 5ms, .loss = 0.02});
  CHECK(megabyte(machines));
}

TEST_CASE("the switch keeps so many frames and no more", "[network]") {
  if (!network_space::possible()) return;
  three machines;
  REQUIRE(ping(machines.a, 2));
  machines.network.set(1, 2, {.delay = 60s});
  endpoint from{machines.a, SOCK_DGRAM};
  const auto deadline = std::chrono::steady_clock::now() + 60s;
  while (machines.network.counted(1, 2).overflowed == 0 &&
         std::chrono::steady_clock::now() < deadline)
    from.send_to(2, 9'000, "x");
  CHECK(machines.network.counted(1, 2).overflowed > 0);
}

TEST_CASE("a namespace knows its processes and takes them with it", "[network]") {
  if (!network_space::possible()) return;
  const scratch_folder folder;
  auto space = std::make_unique<network_space>();
  auto command = space->wrapper();
  command.insert(command.end(), {"sleep", "4321"});
  process sleeper{command, folder.path() / "log"};
  const auto deadline = std::chrono::steady_clock::now() + 60s;
  while (space->processes({"sleep", "4321"}).empty() &&
         std::chrono::steady_clock::now() < deadline) {
  }
  CHECK(space->processes({"sleep", "4321"}) == std::set<pid_t>{sleeper.id()});
  CHECK(space->processes({"sleep"}).empty());
  CHECK(network_space{}.processes().empty());
  space.reset();
  CHECK(sleeper.wait(60s) == -SIGKILL);
}
