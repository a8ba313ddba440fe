// The memory that an unauthenticated client's connection can make the server hold.
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <fstream>
#include <iostream>

#include "server/access/authentication.hpp"
#include "server/fixtures/http_fixture.hpp"
#include "server/http/status.hpp"
#include "support/http2_frames.hpp"
#include "support/sanitizer.hpp"

using namespace troupe;
using namespace troupe::server::testing;
using namespace troupe::test::http2_frames;
using namespace std::chrono_literals;

namespace {

double resident_kb() {
  std::ifstream status{"/proc/self/status"};
  for (std::string word; status >> word;) {
    double value = 0;
    if (word == "VmRSS:" && status >> value) return value;
  }
  return 0;
}

// -- HTTP/2 ---------------------------------------------------------------------------------------

// A header value without an end.
std::string endless_header() {
  auto out = hello() + frame(headers_frame, end_stream, 1,
                             request_block() + std::string{"\0\1x\x7f\xe1\xd3\3", 7});
  for (int i = 0; i < 4; ++i)
    out += frame(continuation_frame, 0, 1, std::string(15'000, 'x'));
  return out;
}

// The HPACK table with the maximum number of entries.
std::string full_table() {
  auto out = hello();
  for (std::uint32_t i = 0; i < 10; ++i) {
    auto block = request_block();
    for (int entry = 0; entry < 100; ++entry)
      block += std::string{"\x40\1", 2} + static_cast<char>('a' + entry % 26) + '\0';
    out += frame(headers_frame, end_stream | end_headers, 2 * i + 1, block);
  }
  return out;
}

std::string pings() {
  auto out = hello();
  for (int i = 0; i < 60'000; ++i)
    out += frame(ping_frame, 0, 0, "12345678");
  return out;
}

// -- HTTP/1 ---------------------------------------------------------------------------------------

std::string endless_head() {
  return "GET /hello HTTP/1.1\r\nhost: test\r\nx: " + std::string(60'000, 'x');
}

std::string unread_answers() {
  std::string out;
  for (int i = 0; i < 30'000; ++i)
    out += "GET /hello HTTP/1.1\r\nhost: test\r\n\r\n";
  return out;
}

// -- clients in a process of their own ------------------------------------------------------------

constexpr int strangers = 160;
// The first ones fill the buffers that all connections of a thread share, and are not measured.
constexpr int first_strangers = 40;

// Forked before threads start, because otherwise a forked process may only exec.
class crowd {
 public:
  crowd(const std::string& protocol, const std::string& bytes) {
    int orders[2], words[2];
    REQUIRE((::pipe(orders) == 0 && ::pipe(words) == 0));
    child_ = ::fork();
    REQUIRE(child_ >= 0);
    if (child_ == 0) {
      test::wire_options options;
      options.protocols = {protocol};
      options.receive_buffer_bytes = 4'096;
      options.timeout = 1s;
      std::vector<std::unique_ptr<test::wire>> wires;
      for (order next{}; ::read(orders[0], &next, sizeof next) == sizeof next;) {
        options.port = next.port;
        for (int i = 0; i < next.connections; ++i) {
          wires.push_back(std::make_unique<test::wire>(options));
          // Until the server stops reading.
          for (std::size_t at = 0; at < bytes.size(); at += 16'000)
            if (!wires.back()->send(std::string_view{bytes}.substr(at, 16'000))) break;
        }
        if (::write(words[1], "x", 1) != 1) break;
      }
      ::_exit(1);
    }
    tell_ = orders[1];
    hear_ = words[0];
  }
  ~crowd() {
    ::kill(child_, SIGKILL);
    ::waitpid(child_, nullptr, 0);
  }
  void go(std::uint16_t port, int connections) const {
    const order next{port, connections};
    REQUIRE(::write(tell_, &next, sizeof next) == sizeof next);
    char done = 0;
    REQUIRE(::read(hear_, &done, 1) == 1);
  }

 private:
  struct order {
    std::uint16_t port;
    int connections;
  };

  pid_t child_ = 0;
  int tell_ = -1, hear_ = -1;
};

struct attack {
  const char* name;
  std::string protocol;
  std::string bytes;
  bool refused;  // by the filter; otherwise the path is open to all
};

}  // namespace

TEST_CASE("an unauthenticated connection costs at most 64 KiB, whatever it does",
          "[.alone][unauthenticated_memory]") {
  ::signal(SIGPIPE, SIG_IGN);
  const auto& tried = GENERATE(values<attack>({
      {"streams with a closed window", "h2", streams_with_closed_window(250), false},
      {"streams with a closed window, refused", "h2", streams_with_closed_window(250), true},
      {"an endless header over HTTP/2", "h2", endless_header(), true},
      {"a full table of headers", "h2", full_table(), true},
      {"pings", "h2", pings(), true},
      {"an endless head", "http/1.1", endless_head(), true},
      {"answers that are not read", "http/1.1", unread_answers(), true},
  }));
  INFO(tried.name);
  if (getenv("ONLY") && std::string(tried.name) != getenv("ONLY")) return;
  crowd many{tried.protocol, tried.bytes};
  server::http_options options;
  options.stall_timeout = 60s;
  test_server server{options};
  server.site.admission = [&](server::request& head) -> std::optional<server::response> {
    head.user = server::anonymous();
    if (!tried.refused) return std::nullopt;
    return server::status_response(401, "Unauthorized", "Unauthorized");
  };
  {
    test::http_client warm{server.client()};
    warm.get("/hello");
  }
  many.go(server.port(), first_strangers);
  const auto before = resident_kb();
  many.go(server.port(), strangers);
  test::http_client bystander{server.client()};
  CHECK(bystander.get("/hello").status == (tried.refused ? 401 : 200));
  const auto each = (resident_kb() - before) / strangers;
  std::cout << tried.name << ": " << each << " KB" << std::endl;
  if (test::memory_is_the_programs()) CHECK(each <= 64);
}

TEST_CASE("an authenticated client may have the full number of streams", "[unauthenticated]") {
  test_server server;
  server.site.admission = [](server::request& head) -> std::optional<server::response> {
    auto user = std::make_shared<server::user_info>();
    user->name = "ann";
    head.user = head.headers.has("authorization") ? user : server::anonymous();
    return std::nullopt;
  };
  test::http2_client client{server.client()};
  REQUIRE(client.request("GET", "/hello", {}, {{"authorization", "Bearer x"}}).status == 200);
  std::vector<std::int32_t> ids;
  for (int i = 0; i < 100; ++i)
    ids.push_back(client.start("GET", "/never"));
  const auto last = client.start("GET", "/hello");
  CHECK(client.run([&] { return client.at(last).ended; }));
  CHECK(client.at(last).answer.status == 200);
}

TEST_CASE("header fields of an unauthenticated client beyond 16 KiB are a 431",
          "[unauthenticated]") {
  test_server server;
  const test::http_client::fields large{{"x", std::string(20'000, 'x')}};
  CHECK(test::http_client{server.client()}.get("/hello", large).status == 431);
  CHECK(test::http_client{server.client_with_certificate()}.get("/hello", large).status == 200);
}
