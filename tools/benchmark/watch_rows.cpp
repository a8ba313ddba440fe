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

struct seen {
  double took_s = 0;
  std::vector<double> latencies_us;  // of each update in each watch
};

// Sends the updates, one after the other, at most one in `period`.
seen send_updates(const node& n, clock::duration period) {
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
    for (int i = 0; i < updates; ++i) {
      std::this_thread::sleep_until(start + i * period);
      send_mark(client, now_us(), i == 0);
    }
  }};
  seen out;
  while (out.latencies_us.size() < std::size_t{watchers} * updates) {
    if (::poll(ready.data(), ready.size(), 30'000) <= 0) die("the watchers hear nothing");
    for (std::size_t i = 0; i < all.size(); ++i)
      if (ready[i].revents != 0)
        all[i]->take(
            [&](std::int64_t sent) { out.latencies_us.push_back(double(now_us() - sent)); });
  }
  out.took_s = seconds_since(start);
  return out;
}

}  // namespace

void measure_watch(results& out, const bench_options& options) {
  const auto run = [&options](clock::duration period) {
    const scratch place;
    return send_updates(node{options.program, place.path(), 1}, period);
  };
  // Back to back the faster program sends more, up to what this client can read.
  out.add("watch: 100 watchers, 1,000 updates back to back", watchers * updates / run({}).took_s,
          "events/s");
  auto paced = run(std::chrono::milliseconds{2}).latencies_us;
  out.add("… 500 updates a second: from sent to seen, p50", percentile(paced, 50) / 1e3, "ms");
  out.add("… 500 updates a second: from sent to seen, p99", percentile(paced, 99) / 1e3, "ms");
}

}  // namespace troupe::bench
