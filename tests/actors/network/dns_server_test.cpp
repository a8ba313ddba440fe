// The server over real sockets of this machine, with a resolver played by the test.
#include "actors/network/dns/dns_server.hpp"

#include <poll.h>

#include <atomic>
#include <catch2/catch.hpp>
#include <chrono>

#include "actors/core/metrics.hpp"
#include "actors/network/dns/cluster_dns.hpp"
#include "actors/network/dns/service_records.hpp"
#include "actors/network/dns_questions.hpp"
#include "actors/no_descriptors.hpp"
#include "support/captured_log.hpp"
#include "support/cluster.hpp"
#include "support/network/service_examples.hpp"

namespace troupe::test {

using namespace actors::dns;
using std::chrono::milliseconds;

namespace {

constexpr milliseconds patience{60'000};
const std::string zone = *to_wire("cluster.local");

bool is_readable(int fd, milliseconds limit) {
  pollfd wait{fd, POLLIN, 0};
  return ::poll(&wait, 1, static_cast<int>(limit.count())) == 1;
}

// Empty: no answer in time.
std::string receive(int fd, milliseconds limit = patience) {
  if (!is_readable(fd, limit)) return {};
  std::string bytes(65'535, '\0');
  const auto size = ::recv(fd, bytes.data(), bytes.size(), 0);
  bytes.resize(size > 0 ? static_cast<std::size_t>(size) : 0);
  return bytes;
}

table_ptr table_of(const std::vector<api::object_ptr>& services) {
  table_maker maker;
  maker.replace("/", domain_records(zone, "10.96.0.10"));
  for (const auto& each : services)
    maker.replace(each->meta().name(), records_of(*each, {}, zone));
  return maker.table();
}

struct running {
  std::unique_ptr<dns_server> server;

  explicit running(std::vector<socket_address> resolvers = {})
      : running{resolver_list{[resolvers] { return resolvers; }}} {}
  explicit running(resolver_list resolvers) {
    auto started =
        dns_server::start({.address = "127.0.0.1", .port = 0, .resolvers = std::move(resolvers)});
    REQUIRE(started);
    server = std::move(*started);
    server->table(table_of({service_object("web", "10.96.0.20", {{"http", 80}}),
                            external_service("far", "www.example.com")}));
  }

  runtime::unique_fd client(int type = SOCK_DGRAM) const {
    auto fd = open_client(server->address(), type);
    REQUIRE(fd);
    return fd;
  }
  heard_answer get(const std::string& name, record_type type) const {
    const auto fd = client();
    const auto question = ask(name, type);
    REQUIRE(::send(fd.get(), question.data(), question.size(), 0) > 0);
    return heard_in(receive(fd.get()));
  }
};

// A resolver of the node, controlled by the test.
struct resolver {
  runtime::unique_fd fd = std::move(*open_server(*make_address("127.0.0.1", 0), SOCK_DGRAM));
  socket_address address = bound_address(fd.get());

  struct heard {
    question asked;
    socket_address from;
  };
  heard hear() {
    REQUIRE(is_readable(fd.get(), patience));
    std::string bytes(4'096, '\0');
    heard out;
    out.from.size = sizeof out.from.storage;
    const auto size =
        ::recvfrom(fd.get(), bytes.data(), bytes.size(), 0, out.from.get(), &out.from.size);
    bytes.resize(static_cast<std::size_t>(size));
    out.asked = *read_question(bytes);
    return out;
  }
  void say(const heard& to, const std::string& bytes) {
    ::sendto(fd.get(), bytes.data(), bytes.size(), 0, to.from.get(), to.from.size);
  }
  static std::string answer(const question& asked, const std::string& address) {
    reply made{asked, false};
    made.answer(asked.name, address_record(address), 60);
    return std::move(made).take(1'232);
  }
};

}  // namespace

TEST_CASE("the server answers by UDP and by TCP", "[dns]") {
  const running c;
  CHECK(c.get("web.default.svc.cluster.local", record_type::a).answers ==
        std::vector<std::string>{"web.default.svc.cluster.local A 10.96.0.20"});
  const auto fd = c.client(SOCK_STREAM);
  const auto question = with_size(ask("web.default.svc.cluster.local", record_type::a));
  const auto twice = question + question;
  pollfd ready{fd.get(), POLLOUT, 0};
  REQUIRE(::poll(&ready, 1, static_cast<int>(patience.count())) == 1);
  // One byte at a time, and two queries in a row.
  for (const char each : twice)
    REQUIRE(::send(fd.get(), &each, 1, 0) == 1);
  std::string heard;
  while (heard.size() < 2 * 65) {
    const auto part = receive(fd.get());
    REQUIRE_FALSE(part.empty());
    heard += part;
  }
  CHECK(heard_in(heard.substr(2, heard.size() / 2 - 2)).answers.size() == 1);
}

TEST_CASE("requests are counted by protocol, and answers by code", "[dns]") {
  const auto& counted = actors::metrics_of_dns();
  const std::uint64_t asked = counted.datagrams, found = counted.responses[0],
                      unknown = counted.responses[3];
  const running c;
  c.get("web.default.svc.cluster.local", record_type::a);
  c.get("none.default.svc.cluster.local", record_type::a);
  CHECK(counted.datagrams.load() == asked + 2);
  CHECK(counted.responses[0].load() == found + 1);
  CHECK(counted.responses[3].load() == unknown + 1);
}

TEST_CASE("what the cluster does not know is asked of the node's resolver", "[dns]") {
  resolver upstream;
  const running c{{upstream.address}};
  const auto fd = c.client();
  const auto question = ask("Example.com", record_type::a);
  REQUIRE(::send(fd.get(), question.data(), question.size(), 0) > 0);
  const auto asked = upstream.hear();
  CHECK(to_text(asked.asked.name) == "example.com");
  auto forged = asked.asked;
  forged.id ^= 1;
  upstream.say(asked, resolver::answer(forged, "192.0.2.66"));
  upstream.say(asked, resolver::answer(asked.asked, "192.0.2.1"));
  const auto bytes = receive(fd.get());
  CHECK(bytes.substr(0, 2) == question.substr(0, 2));
  CHECK(heard_in(bytes).answers == std::vector<std::string>{"Example.com A 192.0.2.1"});
}

TEST_CASE("after a change of the node's resolvers the new ones are asked", "[dns]") {
  resolver before, after;
  std::atomic<bool> changed = false;
  const running c{resolver_list{
      [&] { return std::vector<socket_address>{changed ? after.address : before.address}; }}};
  for (auto* expected : {&before, &after}) {
    changed = expected == &after;
    const auto fd = c.client();
    const auto question = ask("example.com", record_type::a);
    REQUIRE(::send(fd.get(), question.data(), question.size(), 0) > 0);
    const auto asked = expected->hear();
    expected->say(asked, resolver::answer(asked.asked, "192.0.2.1"));
    CHECK(heard_in(receive(fd.get())).answers.size() == 1);
  }
}

TEST_CASE("an alias that leads out of the cluster is answered to its end", "[dns]") {
  resolver upstream;
  const running c{{upstream.address}};
  const auto fd = c.client();
  const auto question = ask("far.default.svc.cluster.local", record_type::a);
  REQUIRE(::send(fd.get(), question.data(), question.size(), 0) > 0);
  const auto asked = upstream.hear();
  upstream.say(asked, resolver::answer(asked.asked, "192.0.2.1"));
  CHECK(heard_in(receive(fd.get())).answers ==
        std::vector<std::string>{"far.default.svc.cluster.local CNAME www.example.com",
                                 "www.example.com A 192.0.2.1"});
}

TEST_CASE("a resolver that is silent costs less than a client's time-out", "[dns]") {
  resolver upstream;
  const running c{{upstream.address}};
  const auto lasts = [&](const std::string& name, response_code expected) {
    const auto begin = std::chrono::steady_clock::now();
    CHECK(c.get(name, record_type::a).code == expected);
    return std::chrono::steady_clock::now() - begin;
  };
  const auto usual = lasts("web.default.svc.cluster.local", response_code::no_error);
  CHECK(lasts("example.com", response_code::server_failure) < std::chrono::seconds{5} + 50 * usual);
}

TEST_CASE("without a resolver other names fail at once", "[dns]") {
  const running c;
  CHECK(c.get("example.com", record_type::a).code == response_code::server_failure);
}

TEST_CASE("questions beyond the bound fail while the cluster's names are answered", "[dns]") {
  resolver upstream;
  const running c{{upstream.address}};
  const auto fd = c.client();
  std::size_t failed = 0;
  for (std::size_t i = 0; i < actors::network_defaults::dns_forwarded + 50; ++i) {
    const auto question = ask("n" + std::to_string(i) + ".example.com", record_type::a);
    REQUIRE(::send(fd.get(), question.data(), question.size(), 0) > 0);
    // In lockstep with the server, so that no datagram is lost.
    if (i % 16 == 0) c.get("web.default.svc.cluster.local", record_type::a);
  }
  CHECK(c.get("web.default.svc.cluster.local", record_type::a).answers.size() == 1);
  while (failed < 50 && !receive(fd.get()).empty())
    ++failed;
  CHECK(failed == 50);
}

TEST_CASE("silent connections leave room for others", "[dns]") {
  const running c;
  std::vector<runtime::unique_fd> silent;
  for (std::size_t i = 0; i < actors::network_defaults::dns_connections; ++i)
    silent.push_back(c.client(SOCK_STREAM));
  CHECK(c.get("web.default.svc.cluster.local", record_type::a).answers.size() == 1);
  // They are closed after their timeout.
  CHECK(is_readable(silent.front().get(), patience));
  CHECK(receive(silent.front().get()).empty());
}

TEST_CASE("one client does not take all TCP connections", "[dns]") {
  const running c;
  std::vector<runtime::unique_fd> silent;
  for (std::size_t i = 0; i < actors::network_defaults::dns_connections; ++i)
    silent.push_back(c.client(SOCK_STREAM));
  const runtime::unique_fd other{::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)};
  const auto from = *make_address("127.0.0.2", 0);
  const auto& to = c.server->address();
  REQUIRE(::bind(other.get(), from.get(), from.size) == 0);
  REQUIRE(::connect(other.get(), to.get(), to.size) == 0);
  const auto question = with_size(ask("web.default.svc.cluster.local", record_type::a));
  REQUIRE(::send(other.get(), question.data(), question.size(), MSG_NOSIGNAL) > 0);
  CHECK_FALSE(receive(other.get()).empty());
}

TEST_CASE("a server without a free descriptor pauses TCP, and answers by UDP", "[dns]") {
  if (!can_take_all_descriptors()) return;
  const captured_log log;
  const running c;
  const auto udp = c.client();
  const auto question = ask("web.default.svc.cluster.local", record_type::a);
  const auto is_answered = [&] {
    return ::send(udp.get(), question.data(), question.size(), 0) > 0 &&
           !receive(udp.get()).empty();
  };
  const runtime::unique_fd tcp{::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)};
  const auto begin = std::chrono::steady_clock::now();
  std::uint64_t pauses = 0;
  {
    const no_descriptors none;
    const auto& to = c.server->address();
    REQUIRE(::connect(tcp.get(), to.get(), to.size) == 0);
    while (c.server->accept_pauses() == 0)
      REQUIRE(is_answered());
    for (int i = 0; i < 200; ++i)
      REQUIRE(is_answered());
    pauses = c.server->accept_pauses();
  }
  const auto passed = std::chrono::steady_clock::now() - begin;
  CHECK(pauses <=
        1 + static_cast<std::uint64_t>(passed / actors::network_defaults::dns_accept_pause));
  const auto sized = with_size(question);
  REQUIRE(::send(tcp.get(), sized.data(), sized.size(), MSG_NOSIGNAL) > 0);
  CHECK_FALSE(receive(tcp.get()).empty());
  const auto text = log.text();
  const auto line = text.find("DNS accepts no TCP connections for now");
  REQUIRE(line != text.npos);
  CHECK(text.find("DNS accepts no TCP connections", line + 1) == text.npos);
}

TEST_CASE("the resolvers of the node are read without ourselves", "[dns]") {
  CHECK(read_resolvers("# x\nnameserver 10.96.0.10\nsearch a b\nnameserver 192.0.2.1\n"
                       "nameserver nonsense\nnameserver fe80::1\n",
                       {"10.96.0.10"}) == std::vector<std::string>{"192.0.2.1", "fe80::1"});
}

TEST_CASE("the table follows the services of the cluster, through a crash", "[dns]") {
  cluster c{1};
  table_ptr now;
  cluster_dns_options options;
  options.domain = "cluster.local";
  options.address = "10.96.0.10";
  options.publish = [&](table_ptr made) { now = std::move(made); };
  c.simulation().system().spawn(
      {.kind = "cluster-dns", .name = "node"},
      runtime::make<cluster_dns>(c.plane().core_actors().watcher, options));
  const auto name = *to_wire("web.default.svc.cluster.local");
  c.create(service_body("web", "10.96.0.20", {{"http", 80}}));
  CHECK(c.run_until([&] { return now && now->find(name) != nullptr; }));
  c.crash("cluster-dns", "node");
  c.remove<api::core::v1::Service>("default", "web");
  CHECK(c.run_until([&] { return now->find(name) == nullptr; }));
}

}  // namespace troupe::test
