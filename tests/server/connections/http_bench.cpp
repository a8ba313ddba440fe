// The transport alone: the cost of a request without the API.
#include <time.h>

#include <catch2/catch.hpp>
#include <iostream>

#include "benchmark/http_load/http_load.hpp"
#include "server/connections/task_queue.hpp"
#include "server/fixtures/http_fixture.hpp"

using namespace troupe;
using namespace troupe::server::testing;

namespace {

bench::load_options load_on(const test_server& server, bool http2) {
  bench::load_options options;
  options.port = server.port();
  options.certificate = test_identities::get().client.certificate;
  options.private_key = test_identities::get().client.private_key;
  options.http2 = http2;
  options.duration = std::chrono::seconds{3};
  return options;
}

// The CPU time of this process: server and load together. More meaningful than the rate on a
// shared machine.
double cpu_seconds() {
  timespec used{};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
  return static_cast<double>(used.tv_sec) + static_cast<double>(used.tv_nsec) / 1e9;
}

void measure(const char* label, const bench::load_options& options) {
  const auto before = cpu_seconds();
  const auto result = bench::run_load(options);
  const auto used = cpu_seconds() - before;
  INFO((result ? std::string() : result.error()));
  REQUIRE(result);
  CHECK(result->refused == 0);
  std::cout << label << ": " << bench::to_string(*result) << ", "
            << used * 1e6 / static_cast<double>(result->answers) << " us CPU each" << std::endl;
}

}  // namespace

TEST_CASE("gets of one object of 3.7 KB", "[.bench]") {
  test_server server;
  const auto object = server::shared_text{std::string(3700, 'o')};
  server.site.on("/object", [&](auto&, auto& answer) {
    server::response out;
    out.content_type = "application/json";
    out.content.add(object);
    answer.respond(std::move(out));
  });
  for (const bool http2 : {false, true}) {
    auto options = load_on(server, http2);
    options.next = [](std::uint64_t) { return bench::load_request{"GET", "/object", {}, {}}; };
    measure(http2 ? "HTTP/2, 32 connections" : "HTTP/1.1, 32 connections", options);
  }
  auto options = load_on(server, true);
  options.connections = 8;
  options.streams = 32;
  options.next = [](std::uint64_t) { return bench::load_request{"GET", "/object", {}, {}}; };
  measure("HTTP/2, 8 connections of 32 streams", options);
}

TEST_CASE("posts of 1 KB that are answered from another thread", "[.bench]") {
  test_server server;
  server::task_queue box;
  std::atomic<bool> ending{false};
  server.site.on("/create", [&](auto& request, auto& answer) {
    box.post(
        [request, answer] { answer.respond(text_response(std::move(request->content), 201)); });
  });
  std::thread writer{[&] {
    std::vector<server::task_queue::task> tasks;
    while (!ending) {
      tasks.clear();
      box.take(tasks);
      for (auto& task : tasks)
        task();
      if (tasks.empty()) std::this_thread::yield();
    }
  }};
  for (const bool http2 : {false, true}) {
    auto options = load_on(server, http2);
    options.next = [](std::uint64_t) {
      return bench::load_request{"POST", "/create", std::string(1000, 'c'), "application/json"};
    };
    measure(http2 ? "HTTP/2, 32 connections" : "HTTP/1.1, 32 connections", options);
  }
  ending = true;
  writer.join();
}

TEST_CASE("lists of 1,000 objects, 4 MB", "[.bench]") {
  test_server server;
  const auto object = server::shared_text{std::string(4000, 'o')};
  server.site.on("/list", [&](auto&, auto& answer) {
    server::response out;
    out.content.reserve(2000);
    for (int i = 0; i < 1000; ++i) {
      out.content.add(object);
      out.content.add_static(",");
    }
    answer.respond(std::move(out));
  });
  for (const bool http2 : {false, true}) {
    auto options = load_on(server, http2);
    options.connections = 8;
    options.next = [](std::uint64_t) { return bench::load_request{"GET", "/list", {}, {}}; };
    measure(http2 ? "HTTP/2, 8 connections" : "HTTP/1.1, 8 connections", options);
  }
}
