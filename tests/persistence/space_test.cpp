// The store's use of a disk: history within its size limit, and a full disk.
#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <atomic>
#include <catch2/catch.hpp>

#include "persistence/defaults.hpp"
#include "persistence/engine/disk_space.hpp"
#include "persistence/engine/memory_engine.hpp"
#include "persistence/fixture.hpp"
#include "persistence/small_disk.hpp"

namespace troupe::persistence::testing {
namespace {

constexpr std::uint64_t mebibyte = 1u << 20;

TEST_CASE("history is cut by its bytes, however few and young its revisions are") {
  auto options = store_options{};
  options.threaded = false;
  options.log_limit_bytes = 100'000;
  const auto store = open(options);
  for (int i = 0; i < 500; ++i) {
    must(commit(*store, just(put("a", std::to_string(i), 1'000))));
    REQUIRE(store->stats().log_bytes < 101'000);
  }
  const auto seen = store->stats();
  CHECK(seen.compacted > 350);
  CHECK(store->changes(seen.compacted, 1'000)->size() == seen.log_revisions);
  CHECK(store->changes(seen.compacted - 1, 1).error().code == errc::compacted);
}

TEST_CASE("a small disk has a small reserve and a short history") {
  const auto wanted = 512 * mebibyte;
  const auto small = plan_space(96 * mebibyte, wanted);
  CHECK(small.history_bytes == 12 * mebibyte);
  CHECK(small.reserve_bytes == 12 * mebibyte);
  const auto large = plan_space(100'000 * mebibyte, wanted);
  CHECK(large.history_bytes == wanted);
  CHECK(large.reserve_bytes == 128 * mebibyte);
  for (const auto& each : {small, large}) {
    CHECK(each.low_bytes > each.reserve_bytes);
    CHECK(each.enough_bytes > each.low_bytes);
  }
}

// Patches of 1 MB, eight at a time; returns the largest size of the directory.
std::uint64_t patch(store& to, const std::string& directory, int count) {
  std::atomic<int> in_flight{0}, failed{0};
  std::uint64_t most = 0;
  for (int i = 0; i < count; ++i) {
    REQUIRE(eventually([&] { return in_flight < 8; }));
    ++in_flight;
    to.submit(just(put("a", std::to_string(i), mebibyte)), [&](const outcome& result) {
      if (!result) ++failed;
      --in_flight;
    });
    if (i % 10 == 0) most = std::max(most, disk_usage(directory));
  }
  REQUIRE(eventually([&] { return in_flight == 0; }));
  CHECK(failed == 0);
  return std::max(most, disk_usage(directory));
}

TEST_CASE("a fast stream of large changes takes no more of the disk than history may") {
  scratch_directory place;
  auto options = in_directory(place.path());
  options.log_limit_bytes = 64 * mebibyte;
  {
    const auto store = open(options);
    const auto most = patch(*store, place.path(), 600);
    INFO("the directory took " << most / mebibyte << " MiB");
    // In addition to the history there are its objects, the write-ahead logs, and data that
    // compactions have not removed yet (docs/decisions/0016-disk-usage-of-the-store.md).
    CHECK(most < options.log_limit_bytes / 8 * 9 + 400 * mebibyte);
    CHECK(eventually([&] { return store->stats().log_bytes <= options.log_limit_bytes; }));
    CHECK(store->stats().log_revisions > 20);  // history is cut, not removed
    CHECK(eventually([&] {
      const auto seen = store->stats();
      const auto found = store->changes(seen.compacted, 2'000);
      return found && found->size() == seen.log_revisions;
    }));
  }
  CHECK(problems_in(place.path()) == std::vector<std::string>{});
}

// `is_behind` sets how long the disk cannot keep up.
TEST_CASE("writers wait while the disk is behind with its tables, and none is refused") {
  const auto disk = std::make_shared<memory_disk>();
  const auto store = open(store_options{}, memory_engine_on(disk));
  must(commit(*store, just(put("before", "v", mebibyte))));
  const auto begin = std::chrono::steady_clock::now();
  // How often the writers have waited as long as they may.
  const auto ended_waits = [&] {
    return (std::chrono::steady_clock::now() - begin) / defaults::catch_up_limit;
  };
  disk->is_behind = true;
  std::atomic<int> taken{0}, refused{0};
  const auto submit = [&](int number) {
    store->submit(just(put(std::to_string(number), "v", mebibyte)),
                  [&](const outcome& result) { ++(result ? taken : refused); });
  };
  const int enough = 3 * static_cast<int>(defaults::batch_bytes / mebibyte);
  for (int i = 0; i < 2 * enough; ++i)
    submit(i);
  REQUIRE(eventually([&] { return taken > 0; }));
  // Writes accepted before the disk was checked, and a batch in progress.
  CHECK_FALSE(eventually(
      [&] {
        const int seen = taken;
        return seen > enough * (1 + ended_waits());
      },
      std::chrono::seconds{1}));
  const bool waits = store->stats().queued > 0;
  CHECK((waits || ended_waits() > 0));
  disk->is_behind = false;
  CHECK(eventually([&] { return taken == 2 * enough; }));
  CHECK(refused == 0);
}

TEST_CASE("a disk that stays behind slows writers down and never stops them") {
  const auto disk = std::make_shared<memory_disk>();
  const auto store = open(store_options{}, memory_engine_on(disk));
  disk->is_behind = true;
  std::atomic<int> taken{0};
  for (int i = 0; i < 15; ++i)
    store->submit(just(put(std::to_string(i), "v", mebibyte)),
                  [&](const outcome& result) { taken += result.has_value(); });
  CHECK(eventually([&] { return taken == 15; }));
}

// Creates objects of 100 KB until one is refused; returns how many were accepted.
int fill_with_objects(store& to, int from) {
  int count = from;
  while (count < 2'000 && commit(to, just(put(std::to_string(count), "v", 100'000))))
    ++count;
  return count;
}

// Cutting history frees space at any moment: fills it again until the object may not grow.
bool is_refused_growth(store& to, int& count, const std::string& name) {
  for (std::size_t size = 400'000; size < 3'000'000; size += 100'000) {
    count = fill_with_objects(to, count);
    const auto result = commit(to, just(put(name, "larger", size)));
    if (!result) return result.error().code == errc::no_space;
  }
  return false;
}

// While space is short, history must be cut now and then before new history fits.
void commit_soon(store& to, const std::function<mutation()>& make) {
  CHECK(eventually([&] {
    const auto result = commit(to, just(make()));
    if (!result && result.error().code != errc::overloaded) must(result);
    return result.has_value();
  }));
}

void remove_soon(store& from, const std::string& name) {
  commit_soon(from, [&] { return remove(name); });
}

TEST_CASE("a store that fills its disk refuses creates, takes deletes, and comes back by itself") {
  if (!small_disk::possible()) return;
  const small_disk disk{96 * mebibyte};
  std::vector<std::string> before;
  {
    const auto store = open(in_directory(disk.path()));
    must(commit(*store, just(put_lease("node", "1"))));
    int count = fill_with_objects(*store, 0);
    INFO(count << " objects, " << disk.available_bytes() / 1'024 << " KiB left");
    REQUIRE(count > 50);
    for (int i = 0; i < 1'000; ++i)  // a node's lease is renewed all the time
      must(commit(*store, just(put_lease("node", std::to_string(i)))));
    commit_soon(*store, [] { return put("0", "smaller", 50'000); });
    for (const auto& each : {"0", "new"})
      CHECK(is_refused_growth(*store, count, each));
    CHECK(eventually([&] {
      count = fill_with_objects(*store, count);
      return store->stats().low_space;
    }));
    REQUIRE(count < 2'000);
    for (int i = 1; i < count; ++i)
      remove_soon(*store, std::to_string(i));
    CHECK(eventually([&] { return commit(*store, just(put("newer", "v", 100'000))).has_value(); }));
    before = contents(store->read());
  }
  CHECK(problems_in(disk.path()) == std::vector<std::string>{});
  CHECK(contents(open(in_directory(disk.path()))->read()) == before);
}

TEST_CASE("a store on a disk that another program has filled accepts deletes from its reserve") {
  if (!small_disk::possible()) return;
  const small_disk disk{96 * mebibyte};
  std::vector<std::string> before;
  {
    const auto store = open(in_directory(disk.path()));
    must(commit(*store, just(put_lease("node", "0"))));
    for (int i = 0; i < 100; ++i)
      must(commit(*store, just(put(std::to_string(i), "v", 100'000))));
    REQUIRE(eventually([&] { return std::filesystem::exists(disk.path("store/RESERVE")); }));
    disk.fill();
    REQUIRE(disk.available_bytes() == 0);
    // The first may find the disk full while it is written; then its outcome is unknown. Uses a new
    // object each time: if one was accepted before the store had checked its disk, writing it again
    // is no growth.
    int tried = 0;
    CHECK(eventually(
        [&] { return !commit(*store, just(put("new" + std::to_string(++tried), "v", 100'000))); }));
    CHECK(eventually([&] { return commit(*store, just(remove("99"))).has_value(); }));
    for (int i = 50; i < 99; ++i)
      remove_soon(*store, std::to_string(i));
    must(commit(*store, just(put_lease("node", "1"))));
    must(commit(*store, just(put_lease("node", "2"))));
    before = contents(store->read());
  }
  {  // a restart while it is full
    const auto store = open(in_directory(disk.path()));
    CHECK(contents(store->read()) == before);
    must(commit(*store, just(remove("0"))));
    disk.empty();
    CHECK(eventually([&] { return commit(*store, just(put("new", "v", 100'000))).has_value(); }));
    before = contents(store->read());
  }
  CHECK(problems_in(disk.path()) == std::vector<std::string>{});
  CHECK(contents(open(in_directory(disk.path()))->read()) == before);
}

}  // namespace
}  // namespace troupe::persistence::testing
