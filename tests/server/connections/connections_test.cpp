// Many idle connections: their cost, and that they disturb no other client.
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <fstream>
#include <future>
#include <iostream>

#include "server/fixtures/http_fixture.hpp"
#include "support/figures.hpp"

using namespace troupe;
using namespace troupe::server;
using namespace troupe::server::testing;
using namespace std::chrono_literals;
using test::http_client;

namespace {

std::size_t resident_kb() {
  std::ifstream status{"/proc/self/status"};
  std::string word;
  while (status >> word) {
    std::size_t value = 0;
    if (word == "VmRSS:" && status >> value) return value;
  }
  return 0;
}

void raise_descriptor_limit() {
  rlimit limit{};
  ::getrlimit(RLIMIT_NOFILE, &limit);
  limit.rlim_cur = limit.rlim_max;
  ::setrlimit(RLIMIT_NOFILE, &limit);
}

// A process that opens connections with one request each, and keeps them until told to end. Forked
// before threads start, because otherwise a forked process may only exec.
class idle_crowd {
 public:
  explicit idle_crowd(std::size_t count) {
    int ends[2];
    REQUIRE(::pipe(ends) == 0);
    const auto& identities = test_identities::get();
    child_ = ::fork();
    REQUIRE(child_ >= 0);
    if (child_ == 0) {
      test::wire_options options;
      if (::read(ends[0], &options.port, sizeof options.port) != sizeof options.port) ::_exit(1);
      options.certificate = identities.client.certificate;
      options.private_key = identities.client.private_key;
      stay(options, count);
    }
    ::close(ends[0]);
    tell_ = ends[1];
  }
  idle_crowd(const idle_crowd&) = delete;
  idle_crowd& operator=(const idle_crowd&) = delete;
  ~idle_crowd() {
    ::close(tell_);
    ::kill(child_, SIGKILL);
    ::waitpid(child_, nullptr, 0);
  }

  void go(std::uint16_t port) { REQUIRE(::write(tell_, &port, sizeof port) == sizeof port); }

 private:
  [[noreturn]] static void stay(const test::wire_options& options, std::size_t count) {
    raise_descriptor_limit();
    std::vector<std::unique_ptr<http_client>> clients;
    try {
      for (std::size_t i = 0; i < count; ++i) {
        clients.push_back(std::make_unique<http_client>(options));
        if (clients.back()->get("/hello").status != 200) ::_exit(1);
      }
    } catch (const std::exception&) {
      ::_exit(1);
    }
    for (;;)
      ::pause();
  }

  pid_t child_ = 0;
  int tell_ = -1;
};

double kb_each(std::size_t count, std::chrono::seconds patience) {
  idle_crowd crowd{count};
  test_server server;
  {
    http_client warm{server.client_with_certificate()};
    warm.get("/hello");
  }
  const auto before = resident_kb();
  crowd.go(server.port());
  REQUIRE(eventually([&] { return server.server().stats().requests >= count + 1; }, patience));
  const auto after = resident_kb();
  http_client bystander{server.client()};
  CHECK(bystander.get("/hello").status == 200);
  CHECK(eventually([&] { return server.server().stats().now_connections == count + 1; }));
  return static_cast<double>(after - before) / static_cast<double>(count);
}

}  // namespace

TEST_CASE("five hundred idle TLS connections cost at most 24 KB each") {
  const auto each = kb_each(500, 60s);
  test::check_below(each, 24.0);
}

TEST_CASE("ten thousand idle TLS connections cost at most 22 KB each", "[.long]") {
  raise_descriptor_limit();
  const auto each = kb_each(10'000, 300s);
  std::cout << "an idle TLS connection: " << each << " KB" << std::endl;
  test::check_below(each, 22.0);
}

TEST_CASE("a request is served before all connections of a burst are accepted") {
  constexpr std::size_t burst = 100;
  http_options options;
  options.io_threads = 1;
  test_server server{options};
  std::promise<void> go_on;
  std::atomic<std::size_t> accepted{0};
  server.site.on("/busy", [&](const request_ptr&, const responder& answer) {
    go_on.get_future().wait();
    answer.respond(text_response("done"));
  });
  server.site.on("/count", [&](const request_ptr&, const responder& answer) {
    accepted = server.server().stats().accepted;
    answer.respond(text_response("counted"));
  });
  http_client busy{server.client_with_certificate()}, other{server.client_with_certificate()};
  REQUIRE(other.get("/hello").status == 200);
  busy.send_request("GET", "/busy");
  REQUIRE(eventually([&] { return server.site.served == 2; }));
  auto plain = server.client();
  plain.tls = false;
  std::vector<std::unique_ptr<test::wire>> silent;
  for (std::size_t i = 0; i < burst; ++i)
    silent.push_back(std::make_unique<test::wire>(plain));
  other.send_request("GET", "/count");
  go_on.set_value();
  CHECK(busy.receive_answer().status == 200);
  CHECK(other.receive_answer().status == 200);
  CHECK(accepted.load() < burst);
  CHECK(eventually([&] { return server.server().stats().accepted == burst + 2; }));
}

TEST_CASE("a connection that ends while a forked process still holds it is not heard of again") {
  test_server server;
  const auto client = std::make_unique<http_client>(server.client());
  CHECK(client->get("/hello", {}).status == 200);
  // As the start of a container does: for a moment the child has all our descriptors.
  const pid_t child = ::fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    for (;;)
      ::pause();
  }
  client->connection().end_sending();
  CHECK(eventually([&] { return server.server().stats().now_connections == 0; }));
  // The socket is still open in the child: bytes on it must not reach the closed connection.
  for (int i = 0; i < 100; ++i)
    client->connection().send("more");
  http_client other{server.client()};
  CHECK(other.get("/hello").status == 200);
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
}
