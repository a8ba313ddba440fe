// What a trace shows, the limit of traces, and their buffers for clients that do not read.
#include <catch2/catch.hpp>
#include <fstream>
#include <iostream>
#include <set>
#include <thread>

#include "server/console/context/trace_slots.hpp"
#include "server/console/defaults.hpp"
#include "server/fixtures/console_fixture.hpp"
#include "support/sanitizer.hpp"

using namespace troupe;
using namespace troupe::server;
using namespace troupe::server::testing;
using Catch::Matchers::Contains;

namespace {

double resident_mb() {
  std::ifstream status{"/proc/self/status"};
  for (std::string word; status >> word;) {
    double value = 0;
    if (word == "VmRSS:" && status >> value) return value / 1024;
  }
  return 0;
}

struct nothing {};
struct listener : runtime::actor {
  const runtime::behavior& make_behavior() const override {
    static const auto table = runtime::handlers(&listener::on_nothing);
    return table;
  }
  void on_nothing(const nothing&) {}
};

}  // namespace

TEST_CASE("a trace beyond the limit ends the one that is blocked longest") {
  const auto room = std::make_shared<trace_slots>(2);
  std::vector<int> ended;
  auto first = room->enter(), second = room->enter();
  first->on_eviction([&] { ended.push_back(1); });
  second->on_eviction([&] { ended.push_back(2); });
  CHECK(room->enter() == nullptr);
  const runtime::time_point start{};
  first->stuck_since(start + std::chrono::seconds{2});
  second->stuck_since(start + std::chrono::seconds{1});
  auto third = room->enter();
  REQUIRE(third);
  CHECK(ended == std::vector{2});
  first->stuck_since(std::nullopt);
  CHECK(room->enter() == nullptr);
  second = nullptr;  // its place was taken long ago
  CHECK(room->enter() == nullptr);
  third = nullptr;
  CHECK(room->enter() != nullptr);
}

TEST_CASE("traces beyond the limit are refused with a remedy") {
  console_test t;
  std::vector<std::unique_ptr<watching>> traces;
  for (std::size_t i = 0; i < defaults::traces; ++i) {
    traces.push_back(std::make_unique<watching>(t.where(), "/console/api/trace?type=none"));
    REQUIRE(traces.back()->status() == 200);
  }
  const auto refused = t.show("trace?type=none");
  CHECK(refused.status == 429);
  CHECK_THAT(refused.text(), Contains("end one of them"));
  traces.pop_back();
  CHECK(rest_test::eventually([&] {
    return watching{t.where(), "/console/api/trace?type=none"}.status() == 200;
  }));
}

TEST_CASE("400 unread traces take at most 32 MB, and a new one finds a place",
          "[.alone][traces_memory]") {
  if (!test::memory_is_the_programs()) return;
  console_test t;
  auto address = t.where();
  address.receive_buffer_bytes = 4'096;
  // Does not count the connections and the clients, which are in this process.
  std::vector<std::unique_ptr<test::http_client>> clients;
  for (int i = 0; i < 400; ++i) {
    clients.push_back(std::make_unique<test::http_client>(address));
    REQUIRE(clients.back()->get("/console/api/store").status == 200);
  }
  const auto listener =
      t.system().spawn({.kind = "listener", .name = "x"}, runtime::make<struct listener>());
  std::atomic<bool> done{false};
  std::atomic<std::size_t> told{0};
  std::thread talking{[&] {
    while (!done)
      if (listener.tell(nothing{})) {
        ++told;
      } else {
        std::this_thread::yield();
      }
  }};
  // Mailbox and recorder are full by then, as they would be without a trace.
  REQUIRE(rest_test::eventually([&] { return told > 200'000; }));
  const auto before = resident_mb();
  std::size_t refused = 0;
  for (const auto& each : clients) {
    each->send_request("GET", "/console/api/trace");
    if (each->receive_head().status == 429) ++refused;
  }
  double most = 0;
  const auto until = std::chrono::steady_clock::now() + std::chrono::seconds{3};
  CHECK(rest_test::eventually([&] {
    most = std::max(most, resident_mb() - before);
    return std::chrono::steady_clock::now() > until;
  }));
  std::cout << "400 traces that nobody reads: " << most << " MB, " << refused << " refused"
            << std::endl;
  CHECK(most <= 32);
  CHECK(rest_test::eventually([&] {
    return watching{t.where(), "/console/api/trace"}.status() == 200;
  }));
  done = true;
  talking.join();
}

TEST_CASE("a trace streams messages with their cause while they are handled") {
  console_test t;
  watching lines{t.where(), "/console/api/trace?name=term-writer"};
  REQUIRE(lines.status() == 200);
  t.create_controller("web", 1);
  for (;;) {
    const auto line = lines.next();
    REQUIRE(line);
    if (line->at("type") != "commit" || line->at("from") != "replicationcontroller/default/web")
      continue;
    CHECK(line->at("to") == "term-writer/term-writer");
    CHECK(line->at("revision") != "0");
    break;
  }
  const auto traces = [&] { return t.show("actors?kind=trace").size(""); };
  CHECK(traces() == 1);
}

TEST_CASE("a trace ends with its client and leaves nothing behind") {
  console_test t;
  {
    watching lines{t.where(), "/console/api/trace"};
    REQUIRE(lines.status() == 200);
    REQUIRE(lines.next());
  }
  CHECK(rest_test::eventually([&] { return t.show("actors?kind=trace").size("") == 0; }));
}

TEST_CASE("a trace of an object shows its actor and the effects of its changes") {
  console_test t;
  watching lines{t.where(), "/console/api/trace?object=replicationcontrollers/default/web&as=text"};
  t.create_controller("web", 1);
  std::string text;
  while (text.find("replicationcontroller/default/web -> term-writer/term-writer commit") ==
         std::string::npos) {
    const auto line = lines.next();
    REQUIRE(line);
    text += line->text() + "\n";
  }
}

TEST_CASE("a trace of an object shows the effects of each change, however short it lived") {
  console_test t;
  watching lines{t.where(), "/console/api/trace?object=cm/short"};
  REQUIRE(lines.status() == 200);
  const std::string maps = "/api/v1/namespaces/default/configmaps";
  REQUIRE(t.post(maps, R"({"metadata":{"name":"short"}})").status == 201);
  test::http_client{t.where()}.request("DELETE", maps + "/short", {}, {});
  const auto history = t.show("history?object=cm/short");
  REQUIRE(history.size("") == 2);
  std::set<std::string> missing{history.at("0.revision"), history.at("1.revision")};
  CHECK(rest_test::eventually([&] {
    if (const auto line = lines.next()) missing.erase(line->at("revision"));
    return missing.empty();
  }));
}
