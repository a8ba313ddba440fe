#include <fmt/format.h>
#include <poll.h>

#include <memory>
#include <thread>

#include "benchmark/node.hpp"
#include "benchmark/rows.hpp"

namespace troupe::bench {
namespace {

constexpr int watchers = 100;
constexpr int updates = 1'000;
constexpr const char* maps = "/api/v1/namespaces/default/configmaps";
constexpr std::string_view mark = "\"sent\":\"";

std::int64_t now_us() {
  return std::chrono::duration_cast<std::chrono::microseconds>(clock::now().time_since_epoch())
      .count();
}

std::string marked_map() {
  return fmt::format(
      R"({{"apiVersion":"v1","kind":"ConfigMap","metadata":{{"name":"watched"}},"data":{{"sent":"{:016}","d":"{}"}}}})",
      now_us(), std::string(900, 'x'));
}

// The events of one watch, identified by their marks.
class watch {
 public:
  explicit watch(const node& n) : client_{n.client()} {
    client_.send_request("GET",
                         std::string(maps) + "?watch=true&fieldSelector=metadata.name%3Dwatched");
    if (client_.receive_head().status != 200) die("no watch");
  }

  int descriptor() { return client_.connection().descriptor(); }

  // Reads the available events and adds a latency for each.
  void take(std::vector<double>& latencies_us) {
    do {
      text_ += client_.connection().receive();
      if (client_.connection().ended()) die("a watch has ended");
      std::size_t at = 0;
      for (;; ++events_) {
        const auto found = text_.find(mark, at);
        if (found == text_.npos || found + mark.size() + 16 > text_.size()) break;
        at = found + mark.size();
        latencies_us.push_back(double(now_us() - std::stoll(text_.substr(at, 16))));
      }
      text_.erase(0, std::max(at, text_.size() - std::min(text_.size(), mark.size() + 16)));
    } while (client_.connection().has_input());
  }

  int events() const noexcept { return events_; }

 private:
  test::http_client client_;
  std::string text_;
  int events_ = 0;
};

}  // namespace

void measure_watch(results& out, const bench_options& options) {
  const scratch place;
  const node n{options.program, place.path(), 1};
  std::vector<std::unique_ptr<watch>> all;
  std::vector<pollfd> ready;
  for (int i = 0; i < watchers; ++i) {
    all.push_back(std::make_unique<watch>(n));
    ready.push_back({all.back()->descriptor(), POLLIN, 0});
  }
  auto client = n.client();
  const test::http_client::fields json{{"content-type", "application/json"}};
  const auto start = clock::now();
  // Joined before everything else is destroyed; refused writes show up as missing events.
  const std::jthread writer{[&] {
    client.request("POST", maps, marked_map(), json);
    for (int i = 1; i < updates; ++i)
      client.request("PUT", std::string(maps) + "/watched", marked_map(), json);
  }};
  std::vector<double> latencies_us;
  while (latencies_us.size() < std::size_t{watchers} * updates) {
    if (::poll(ready.data(), ready.size(), 30'000) <= 0) die("the watchers hear nothing");
    for (std::size_t i = 0; i < all.size(); ++i)
      if (ready[i].revents != 0) all[i]->take(latencies_us);
  }
  const auto took = seconds_since(start);
  out.add("watch: 100 watchers, 1,000 updates back to back", watchers * updates / took, "events/s");
  out.add("… from sent to seen, p50", percentile(latencies_us, 50) / 1e3, "ms");
  out.add("… from sent to seen, p99", percentile(latencies_us, 99) / 1e3, "ms");
}

}  // namespace troupe::bench
