// The response time of the console with many objects.
#include <catch2/catch.hpp>
#include <cstdio>
#include <cstdlib>
#include <thread>

#include "server/fixtures/console_fixture.hpp"

using namespace troupe::server::testing;

// TROUPE_BENCH_PODS sets the number; the limit is 200 ms with 100,000.
TEST_CASE("bench: the console's views with many pods", "[.bench]") {
  const char* expected = std::getenv("TROUPE_BENCH_PODS");
  const auto pods = expected != nullptr ? std::strtoul(expected, nullptr, 10) : 100'000;
  console_test t;
  t.start_nodes(static_cast<std::uint32_t>(pods / 100 + 1));
  const auto begin = std::chrono::steady_clock::now();
  constexpr std::size_t each = 5'000;
  for (std::size_t made = 0; made < pods; made += each)
    t.create_controller("web-" + std::to_string(made),
                        static_cast<int>(std::min(each, pods - made)), std::chrono::minutes{2});
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
  std::printf("%zu pods in %.1f s, %s actors\n", t.count_pods(), took.count(),
              t.show("actors?top=0").headers.at("x-total-count").c_str());
  const auto pod = t.first_pod();
  for (const auto& view :
       {std::string{"actors?sort=busy&top=100"}, std::string{"actors?match=*zz*"},
        std::string{"actors?sort=name&offset=9000&top=100"}, std::string{"tree"},
        std::string{"actor?name=writer"}, "actor?name=pod/default/" + pod, std::string{"top"},
        std::string{"warnings"}, std::string{"flow"}, std::string{"cluster"}, std::string{"store"},
        std::string{"watchers"}, "history?object=pods/default/" + pod,
        "why?object=pods/default/" + pod, std::string{"history?object=pods/default/gone"},
        std::string{"names?prefix=pod/default/web-9"}}) {
    std::vector<double> times;
    for (int i = 0; i < 9; ++i) {
      const auto reply = std::chrono::steady_clock::now();
      const auto answer = t.show(view);
      const std::chrono::duration<double> waited = std::chrono::steady_clock::now() - reply;
      CHECK(answer.status / 100 != 5);
      times.push_back(waited.count() * 1e3);
    }
    std::sort(times.begin(), times.end());
    std::printf("%-50s %7.1f ms, %7.1f ms at best, %7.1f ms at worst\n", view.c_str(), times[4],
                times.front(), times.back());
  }
  const auto answer = std::chrono::steady_clock::now();
  t.get("/metrics");
  const std::chrono::duration<double> waited = std::chrono::steady_clock::now() - answer;
  std::printf("%-50s %7.1f ms\n", "/metrics", waited.count() * 1e3);
}
