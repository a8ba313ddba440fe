// The effect of 215 clients that send bodies at a byte a second on the writes of others.
#include <algorithm>
#include <catch2/catch.hpp>
#include <condition_variable>
#include <iostream>
#include <thread>

#include "server/fixtures/auth_filter_fixture.hpp"

using namespace troupe::server::testing;
using namespace std::chrono_literals;
using troupe::test::http_client;

namespace {

// Sends heads, and then a byte a second on each connection, until it is destroyed.
class slow_crowd {
 public:
  slow_crowd(const filtered_server& at, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) {
      clients_.push_back(std::make_unique<http_client>(at.client()));
      clients_.back()->connection().send(
          "POST /api/v1/pods HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer writer-slow\r\n"
          "Content-Length: 1000\r\n\r\n{");
    }
    thread_ = std::thread{[this] {
      std::unique_lock lock{mutex_};
      while (!wake_.wait_for(lock, 1s, [this] { return ending_; }))
        for (const auto& each : clients_)
          each->connection().send(" ");
    }};
  }
  ~slow_crowd() {
    {
      const std::lock_guard lock{mutex_};
      ending_ = true;
    }
    wake_.notify_all();
    thread_.join();
  }

 private:
  std::vector<std::unique_ptr<http_client>> clients_;
  std::mutex mutex_;
  std::condition_variable wake_;
  bool ending_ = false;
  std::thread thread_;
};

// Completed writes of another user per second, measured for two seconds; by eight connections.
double writes_per_second(const filtered_server& at) {
  std::atomic<std::size_t> done{0};
  const auto until = std::chrono::steady_clock::now() + 2s;
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i)
    threads.emplace_back([&] {
      http_client client{at.client()};
      const auto headers = filtered_server::headers("writer-other");
      while (std::chrono::steady_clock::now() < until)
        if (client.request("POST", "/api/v1/pods", "{}", headers).status == 200) ++done;
    });
  for (auto& thread : threads)
    thread.join();
  return static_cast<double>(done) / 2;
}

}  // namespace

TEST_CASE("writes beside 215 bodies of a byte a second", "[.bench]") {
  filtered_server server;
  std::vector<double> alone, beside;
  for (int run = 0; run < 7; ++run) {
    alone.push_back(writes_per_second(server));
    const slow_crowd slow{server, 215};
    REQUIRE(eventually([&] { return server.server.stats().now_connections >= 215; }));
    beside.push_back(writes_per_second(server));
  }
  const auto median = [](std::vector<double>& of) {
    std::sort(of.begin(), of.end());
    return of[of.size() / 2];
  };
  const auto before = median(alone);
  const auto after = median(beside);
  std::cout << "writes: " << before << "/s alone, " << after
            << "/s beside 215 slow bodies: " << 100 * after / before << " %" << std::endl;
  CHECK(after > 0.95 * before);
}
