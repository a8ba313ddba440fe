// The store's requirements on an engine, tested on both.
#include "persistence/engine/engine.hpp"

#include <algorithm>
#include <atomic>
#include <catch2/catch.hpp>
#include <random>

#include "persistence/engine/memory_engine.hpp"
#include "persistence/engine/rocks_engine.hpp"
#include "persistence/fixture.hpp"

namespace troupe::persistence::testing {
namespace {

struct any_engine {
  scratch_directory place;
  engine_factory factory = GENERATE(false, true) ? memory_engine_on(std::make_shared<memory_disk>())
                                                 : rocks_engine_in(place.path());
  std::unique_ptr<engine> disk = std::move(*factory(open_mode::strict));

  void reopen(open_mode mode = open_mode::strict) {
    disk.reset();
    auto opened = factory(mode);
    REQUIRE(opened);
    disk = std::move(*opened);
  }
  void put(table target, const std::string& key, const std::string& value) {
    auto rows = disk->make_batch();
    rows->put(target, key, value);
    REQUIRE(disk->write(*rows, durability::synced));
  }
  std::string all(table target, std::string_view from = "") {
    std::string found;
    REQUIRE(disk->scan(target, from, [&](std::string_view key, std::string_view value) {
      found.append(key).append("=").append(value).append(" ");
      return key != "stop";
    }));
    return found;
  }
};

TEST_CASE("an engine keeps four tables apart, each in the order of its keys") {
  any_engine any;
  for (const auto* key : {"c", "a", "b"})
    any.put(table::objects, key, "1");
  any.put(table::changes, "a", "2");
  CHECK(any.all(table::objects) == "a=1 b=1 c=1 ");
  CHECK(any.all(table::objects, "b") == "b=1 c=1 ");
  CHECK(any.all(table::objects, "bb") == "c=1 ");
  CHECK(any.all(table::changes) == "a=2 ");
  CHECK(any.all(table::bases).empty());
  CHECK(any.disk->last_key(table::objects)->value() == "c");
  CHECK_FALSE(any.disk->last_key(table::bases)->has_value());
  CHECK(any.disk->get(table::objects, "b")->value() == "1");
  CHECK_FALSE(any.disk->get(table::objects, "x")->has_value());
}

TEST_CASE("a scan of an engine ends when its visitor returns false") {
  any_engine any;
  for (const auto* key : {"a", "stop", "z"})
    any.put(table::objects, key, "1");
  CHECK(any.all(table::objects) == "a=1 stop=1 ");
}

TEST_CASE("the operations of a batch apply in order, and a batch can be used again") {
  any_engine any;
  auto rows = any.disk->make_batch();
  for (const auto* key : {"a", "b", "c", "d"})
    rows->put(table::changes, key, "head", "-tail");
  rows->remove(table::changes, "a");
  rows->put(table::changes, "a", "again");
  rows->remove_range(table::changes, "b", "d");
  rows->put(table::meta, "x", "1");
  CHECK(rows->size_bytes() > 20);
  REQUIRE(any.disk->write(*rows, durability::buffered));
  CHECK(any.all(table::changes) == "a=again d=head-tail ");
  rows->clear();
  rows->remove(table::meta, "x");
  REQUIRE(any.disk->write(*rows, durability::synced));
  CHECK(any.all(table::meta).empty());
  CHECK(any.all(table::changes) == "a=again d=head-tail ");
}

TEST_CASE("written records exist when the engine is opened again, in any mode") {
  any_engine any;
  any.put(table::objects, "a", "1");
  any.disk->acknowledge(17);
  for (const auto mode :
       {open_mode::strict, open_mode::rewrite, open_mode::inspect, open_mode::salvage}) {
    any.reopen(mode);
    CHECK(any.all(table::objects) == "a=1 ");
    CHECK(any.disk->acknowledged() == 17);
  }
}

TEST_CASE("a batch can be written again by another engine on the same data") {
  any_engine any;
  auto rows = any.disk->make_batch();
  rows->put(table::bases, "a", "1");
  any.reopen();
  REQUIRE(any.disk->write(*rows, durability::synced));
  CHECK(any.all(table::bases) == "a=1 ");
}

TEST_CASE("the space of removed records is reclaimed") {
  any_engine any;
  std::mt19937 random{1};
  std::string value(10'000, ' ');
  for (int i = 100; i < 200; ++i) {
    std::generate(value.begin(), value.end(), [&] { return static_cast<char>(random()); });
    any.put(table::changes, std::to_string(i), value);
  }
  // RocksDB only estimates data in memory: data in files is measured.
  std::atomic<bool> stop{false};
  REQUIRE(any.disk->rewrite(stop));
  CHECK(any.disk->size_bytes(table::changes) > 900'000);
  auto rows = any.disk->make_batch();
  rows->remove_range(table::changes, "", "190");
  REQUIRE(any.disk->write(*rows, durability::synced));
  REQUIRE(any.disk->reclaim(table::changes, "190"));
  REQUIRE(any.disk->rewrite(stop));
  CHECK(any.disk->size_bytes(table::changes) < 200'000);
  CHECK(any.disk->last_key(table::changes)->value() == "199");
  CHECK(any.all(table::changes).substr(0, 4) == "190=");
}

TEST_CASE("a probe leaves nothing behind") {
  any_engine any;
  REQUIRE(any.disk->probe());
  CHECK_FALSE(std::filesystem::exists(any.place.path() + "/probe"));
}

TEST_CASE("a mark that is torn or foreign reads as nothing") {
  scratch_directory place;
  std::filesystem::create_directories(place.path());
  const auto mark = place.path() + "/ACKNOWLEDGED";
  const auto value = [&] {
    return (*rocks_engine_in(place.path())(open_mode::strict))->acknowledged();
  };
  (*rocks_engine_in(place.path())(open_mode::strict))->acknowledge(12);
  CHECK(value() == 12);
  std::filesystem::resize_file(mark, 30);
  CHECK(value() == 0);
  std::filesystem::resize_file(mark, 0);
  CHECK(value() == 0);
}

}  // namespace
}  // namespace troupe::persistence::testing
