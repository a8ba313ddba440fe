// Measures the store and prints tables on standard output. Run with "[.bench]"; no checks, the
// figures go to docs/benchmarks.md.
#include <fcntl.h>
#include <spdlog/fmt/fmt.h>
#include <spdlog/spdlog.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <catch2/catch.hpp>
#include <condition_variable>
#include <fstream>
#include <mutex>

#include "api/scheme.hpp"
#include "persistence/fixture.hpp"

namespace troupe::persistence::testing {
namespace {

using steady = std::chrono::steady_clock;

double microseconds(steady::duration took) {
  return std::chrono::duration<double, std::micro>(took).count();
}

double cpu_microseconds() {
  rusage used{};
  ::getrusage(RUSAGE_SELF, &used);
  const auto of = [](const timeval& t) { return double(t.tv_sec) * 1e6 + double(t.tv_usec); };
  return of(used.ru_utime) + of(used.ru_stime);
}

double resident_mb() {
  std::ifstream file{"/proc/self/statm"};
  long total = 0, resident = 0;
  file >> total >> resident;
  return double(resident) * double(::sysconf(_SC_PAGESIZE)) / 1e6;
}

double percentile(std::vector<double>& of, double part) {
  const auto at = of.begin() + static_cast<std::ptrdiff_t>(double(of.size() - 1) * part);
  std::nth_element(of.begin(), at, of.end());
  return *at;
}

// Appends of 1 KB, each followed by fdatasync: the time of the disk itself.
std::vector<double> raw_syncs(const std::string& path, int count) {
  const int file = ::open(path.c_str(), O_CREAT | O_WRONLY | O_TRUNC, 0600);
  REQUIRE(file >= 0);
  const std::string block(1024, 'x');
  std::vector<double> took;
  for (int i = 0; i < count; ++i) {
    const auto began = steady::now();
    REQUIRE(::write(file, block.data(), block.size()) == 1024);
    ::fdatasync(file);
    took.push_back(microseconds(steady::now() - began));
  }
  ::close(file);
  return took;
}

// One thread that keeps `in_flight` transactions outstanding.
struct load {
  std::mutex mutex;
  std::condition_variable freed;
  int in_flight = 0;
  std::vector<double> latencies;

  void submit(store& to, int limit, transaction request) {
    {
      std::unique_lock lock{mutex};
      freed.wait(lock, [&] { return in_flight < limit; });
      ++in_flight;
    }
    const auto began = steady::now();
    to.submit(std::move(request), [this, began](const outcome& result) {
      const double took = microseconds(steady::now() - began);
      std::lock_guard lock{mutex};
      if (result) latencies.push_back(took);
      --in_flight;
      freed.notify_one();
    });
  }
  void finish() {
    std::unique_lock lock{mutex};
    freed.wait(lock, [&] { return in_flight == 0; });
  }
};

TEST_CASE("transactions per second", "[.bench]") {
  spdlog::set_level(spdlog::level::warn);
  scratch_directory place;
  std::filesystem::create_directories(place.path());
  auto raw = raw_syncs(place.path("raw"), 2'000);
  const double raw_p50 = percentile(raw, 0.5);
  fmt::print("raw fdatasync of 1 KB: p50 {:.0f} us, p99 {:.0f} us\n", raw_p50,
             percentile(raw, 0.99));
  fmt::print("{:>9} {:>12} {:>9} {:>9} {:>10} {:>10} {:>10} {:>8}\n", "in flight", "durable tx/s",
             "p50 us", "p99 us", "p50 / raw", "per batch", "cpu us/tx", "RSS MB");
  for (const auto [in_flight, count] : {std::array{1, 5'000}, std::array{8, 40'000},
                                        std::array{64, 200'000}, std::array{256, 400'000}}) {
    const auto store = open(in_directory(place.path(fmt::format("at-{}", in_flight))));
    load running;
    const auto began = steady::now();
    const double cpu = cpu_microseconds();
    for (int i = 0; i < count; ++i)
      running.submit(*store, in_flight, just(put(std::to_string(i % 10'000), "1", 900)));
    running.finish();
    const double seconds = microseconds(steady::now() - began) / 1e6;
    const double p50 = percentile(running.latencies, 0.5);
    fmt::print("{:>9} {:>12.0f} {:>9.0f} {:>9.0f} {:>10.2f} {:>10.1f} {:>10.1f} {:>8.1f}\n",
               in_flight, count / seconds, p50, percentile(running.latencies, 0.99), p50 / raw_p50,
               double(count) / double(store->stats().batches), (cpu_microseconds() - cpu) / count,
               resident_mb());
  }
}

TEST_CASE("reading a snapshot", "[.bench]") {
  spdlog::set_level(spdlog::level::warn);
  const auto store = open(store_options{});
  constexpr int count = 10'000;
  load running;
  for (int i = 0; i < count; ++i)
    running.submit(*store, 256, just(put(fmt::format("map-{}", i * 7919 % count), "1", 900)));
  running.finish();
  const auto state = store->read();
  std::vector<double> scans;
  std::uint64_t sum = 0;
  for (int round = 0; round < 50; ++round) {
    const auto began = steady::now();
    state.scan(key_of(""), "", [&](std::string_view, const api::object_ptr& object) {
      sum += object->revision();
      return true;
    });
    scans.push_back(microseconds(steady::now() - began));
  }
  std::vector<std::string> keys;
  for (int i = 0; i < count; ++i)
    keys.push_back(key_of(fmt::format("map-{}", i * 104'729 % count)));
  const auto per_call = [&](auto call) {
    const auto began = steady::now();
    for (int round = 0; round < 20; ++round)
      for (const auto& key : keys)
        sum += call(key);
    return microseconds(steady::now() - began) / (20 * count) * 1e3;
  };
  fmt::print("scan of {} objects: {:.0f} us\n", count, percentile(scans, 0.5));
  fmt::print("find: {:.0f} ns\n", per_call([&](auto& key) { return state.find(key)->revision(); }));
  fmt::print("count of a prefix: {:.0f} ns\n",
             per_call([&](auto& key) { return state.count(key); }));
  fmt::print("read(): {:.0f} ns ({})\n", per_call([&](auto&) { return store->read().at(); }), sum);
}

// VmHWM or VmRSS of this process.
double status_mb(const std::string& name) {
  std::ifstream file{"/proc/self/status"};
  std::string word;
  while (file >> word) {
    double kilobytes = 0;
    if (word == name && file >> kilobytes) return kilobytes / 1e3;
  }
  return 0;
}

// Two runs of the program: TROUPE_START_DIRECTORY=... persistence_test "a store for a start", then
// the same with "memory of a start".
TEST_CASE("a store for a start", "[.start]") {
  spdlog::set_level(spdlog::level::warn);
  const auto store = open(in_directory(::getenv("TROUPE_START_DIRECTORY")));
  load running;
  for (int i = 0; i < 50'000; ++i)
    running.submit(*store, 256, just(put(fmt::format("map-{}", i), "1", 1'000)));
  running.finish();
}

TEST_CASE("memory of a start", "[.start]") {
  spdlog::set_level(spdlog::level::warn);
  api::scheme::instance();
  const auto before = status_mb("VmRSS:");
  const auto store = open(in_directory(::getenv("TROUPE_START_DIRECTORY")));
  fmt::print("{} objects: {:.1f} MB before, {:.1f} MB then, {:.1f} MB at most\n",
             store->stats().objects, before, status_mb("VmRSS:"), status_mb("VmHWM:"));
}

TEST_CASE("opening", "[.bench]") {
  spdlog::set_level(spdlog::level::warn);
  api::scheme::instance();
  const double before = resident_mb();
  std::vector<double> cold, cpu;
  for (int i = 0; i < 20; ++i) {
    scratch_directory place;
    const auto began = steady::now();
    const double used = cpu_microseconds();
    const auto store = open(in_directory(place.path()));
    cold.push_back(microseconds(steady::now() - began) / 1e3);
    cpu.push_back((cpu_microseconds() - used) / 1e3);
  }
  fmt::print("empty directory: p50 {:.1f} ms, best {:.1f} ms, cpu p50 {:.1f} ms\n",
             percentile(cold, 0.5), percentile(cold, 0), percentile(cpu, 0.5));
  scratch_directory place;
  {
    const auto store = open(in_directory(place.path()));
    must(commit(*store, just(put("a", "1"))));
    fmt::print("idle: {:.1f} MB resident, {:.1f} MB before the first was opened\n", resident_mb(),
               before);
    load running;
    for (int i = 0; i < 10'000; ++i)
      running.submit(*store, 256, just(put(fmt::format("map-{}", i), "1", 2'900)));
    running.finish();
    fmt::print("with 10,000 objects of 3 KB: {:.1f} MB\n", resident_mb());
  }
  const auto began = steady::now();
  const auto store = open(in_directory(place.path()));
  fmt::print("10,000 objects of 3 KB: {:.1f} ms\n", microseconds(steady::now() - began) / 1e3);
}

}  // namespace
}  // namespace troupe::persistence::testing
