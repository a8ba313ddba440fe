#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <condition_variable>
#include <mutex>

#include "api/schema/core_config.pb.h"
#include "api/scheme.hpp"
#include "benchmark/rows.hpp"
#include "benchmark/support.hpp"
#include "persistence/store/store.hpp"

namespace troupe::bench {
namespace {

std::unique_ptr<api::body> kilobyte_map(const std::string& name) {
  auto map = std::make_unique<api::core::v1::ConfigMap>();
  map->mutable_metadata()->set_name(name);
  map->mutable_metadata()->set_namespace_("default");
  (*map->mutable_data())["data"] = std::string(900, 'x');
  return map;
}

// Clients in a closed loop: each submits its next transaction when its last one is on disk. One
// thread drives all of them.
class clients {
 public:
  clients(persistence::store& store, int count) : store_{store} {
    for (int i = 0; i < count; ++i)
      free_.push_back(i);
    idle_ = free_.size();
  }

  double transactions_per_second(std::chrono::seconds time) {
    const auto start = clock::now();
    const auto end = start + time;
    std::uint64_t sent = 0;
    for (std::vector<int> next; clock::now() < end;) {
      wait(next);
      for (const int client : next)
        submit(client, sent++);
      next.clear();
    }
    std::unique_lock lock{mutex_};
    answered_.wait(lock, [this] { return free_.size() == idle_; });
    return double(sent) / seconds_since(start);
  }

 private:
  void wait(std::vector<int>& free) {
    std::unique_lock lock{mutex_};
    answered_.wait(lock, [this] { return !free_.empty(); });
    free.swap(free_);
  }

  void submit(int client, std::uint64_t number) {
    const auto& kind = api::kind_of<api::core::v1::ConfigMap>();
    const auto name = fmt::format("m{}", number * 7919 % 10'000);
    persistence::transaction transaction;
    transaction.mutations.push_back({kind.key("default", name), &kind, kilobyte_map(name)});
    store_.submit(std::move(transaction), [this, client](const persistence::outcome& result) {
      if (!result) die(result.error().message);
      const std::lock_guard lock{mutex_};
      free_.push_back(client);
      answered_.notify_one();
    });
  }

  persistence::store& store_;
  std::mutex mutex_;
  std::condition_variable answered_;
  std::vector<int> free_;
  std::size_t idle_ = 0;
};

}  // namespace

double sync_p50_us() {
  const scratch place;
  const auto file = place.path() + "/raw";
  const int fd = ::open(file.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  const std::string kilobyte(1024, 'x');
  std::vector<double> times;
  for (int i = 0; i < 1000; ++i) {
    const auto start = clock::now();
    if (::write(fd, kilobyte.data(), kilobyte.size()) < 0 || ::fdatasync(fd) != 0)
      die("cannot write " + file);
    times.push_back(seconds_since(start) * 1e6);
  }
  ::close(fd);
  return percentile(std::move(times), 50);
}

void measure_store(results& out, const bench_options&) {
  out.add("fdatasync of 1 KB, p50", sync_p50_us(), "us");
  for (const int count : {1, 8, 64, 256}) {
    const scratch place;
    persistence::store_options options;
    options.directory = place.path() + "/store";
    auto store = persistence::store::open(options);
    if (!store) die(store.error().message);
    const auto rate =
        clients{**store, count}.transactions_per_second(std::chrono::seconds{count < 64 ? 2 : 4});
    out.add(fmt::format("durable transactions of 1 KB in process, {} clients", count), rate, "/s",
            count == 256 ? std::optional{at_least(60'000)} : std::nullopt);
  }
}

}  // namespace troupe::bench
