#include <fmt/format.h>
#include <poll.h>

#include <memory>
#include <thread>

#include "benchmark/marked_watch.hpp"
#include "benchmark/node.hpp"
#include "benchmark/rows.hpp"

namespace troupe::bench {
namespace {

constexpr int watchers = 100;
constexpr int updates = 1'000;

}  // namespace

void measure_watch(results& out, const bench_options& options) {
  const scratch place;
  const node n{options.program, place.path(), 1};
  std::vector<std::unique_ptr<marked_watch>> all;
  std::vector<pollfd> ready;
  for (int i = 0; i < watchers; ++i) {
    all.push_back(std::make_unique<marked_watch>(n));
    ready.push_back({all.back()->descriptor(), POLLIN, 0});
  }
  auto client = n.client();
  const auto start = clock::now();
  // Joined before everything else is destroyed; refused writes show up as missing events.
  const std::jthread writer{[&] {
    for (int i = 0; i < updates; ++i)
      send_mark(client, now_us(), i == 0);
  }};
  std::vector<double> latencies_us;
  while (latencies_us.size() < std::size_t{watchers} * updates) {
    if (::poll(ready.data(), ready.size(), 30'000) <= 0) die("the watchers hear nothing");
    for (std::size_t i = 0; i < all.size(); ++i)
      if (ready[i].revents != 0)
        all[i]->take([&](std::int64_t sent) { latencies_us.push_back(double(now_us() - sent)); });
  }
  const auto took = seconds_since(start);
  out.add("watch: 100 watchers, 1,000 updates back to back", watchers * updates / took, "events/s");
  out.add("… from sent to seen, p50", percentile(latencies_us, 50) / 1e3, "ms");
  out.add("… from sent to seen, p99", percentile(latencies_us, 99) / 1e3, "ms");
}

}  // namespace troupe::bench
