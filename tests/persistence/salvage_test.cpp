// A store that no longer opens, and the result of salvaging it.
#include "persistence/repair/salvage.hpp"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <fstream>

#include "persistence/engine/rocks_engine.hpp"
#include "persistence/fixture.hpp"
#include "persistence/format/record.hpp"
#include "persistence/open/open_checks.hpp"
#include "persistence/repair/replace_directory.hpp"

namespace troupe::persistence::testing {
namespace {

namespace fs = std::filesystem;

std::vector<fs::path> files_of(const std::string& directory, const std::string& kind) {
  std::vector<fs::path> found;
  for (const auto& each : fs::directory_iterator{directory})
    if (each.path().filename().string().find(kind) != std::string::npos) found.push_back(each);
  std::sort(found.begin(), found.end());
  return found;
}

// Three runs that end as by kill -9; the first writes tables. Returns the folder of the last.
std::string make_lives(const scratch_directory& place) {
  std::string folder;
  for (int life = 0; life < 3; ++life) {
    folder = place.path(std::to_string(life));
    auto factory = rocks_engine_in(folder);
    const auto store = open(in_directory(folder), [&](open_mode mode) {
      return factory(mode == open_mode::strict && life == 1 ? open_mode::rewrite : mode);
    });
    for (int i = 0; i < 30; ++i)
      must(commit(*store, just(put(fmt::format("{}-{}", life, i), "1", 2'000))));
    must(commit(*store, just(put("shared", std::to_string(life)))));
    fs::copy(folder, place.path(std::to_string(life + 1)));
  }
  return place.path("3");
}

void check_new(const std::string& folder, const salvage_report& report) {
  CHECK(problems_in(folder) == std::vector<std::string>{});
  const auto store = open(in_directory(folder));
  CHECK(store->read().size() == report.objects);
  CHECK(store->read().at() == report.at);
  CHECK(store->changes(report.at, 10)->empty());
  CHECK(store->changes(report.at - 1, 10).error().code == errc::compacted);
  CHECK(must(commit(*store, just(put("after", "1")))) == report.at + 1);
}

std::string lines(const salvage_report& report) {
  return fmt::format("{}\n{}", report.damage, fmt::join(report.losses, "\n"));
}

TEST_CASE("a store that is whole is left as it is") {
  scratch_directory place;
  const auto folder = make_lives(place);
  const auto done = salvage(folder);
  REQUIRE(done);
  CHECK(done->damage.empty());
  CHECK(done->old_directory.empty());
  CHECK(open(in_directory(folder))->read().size() == 91);
  CHECK(files_of(place.path(""), "damaged").empty());
}

TEST_CASE("of a store with a lost log the rest is kept, and the revisions are named") {
  scratch_directory place;
  const auto folder = make_lives(place);
  const auto id = open(in_directory(folder))->cluster_id();
  fs::remove(files_of(folder, ".log").front());
  REQUIRE_FALSE(store::open(in_directory(folder)));
  const auto done = salvage(folder);
  REQUIRE(done);
  INFO(lines(*done));
  CHECK(done->objects == 61);
  CHECK_THAT(lines(*done),
             Catch::Contains(".log is missing") &&
                 Catch::Contains("revisions 33 to 63 are missing") &&
                 Catch::Contains("there were 91 objects at revision 94, 61 are kept"));
  CHECK(fs::exists(done->old_directory + "/CURRENT"));
  check_new(folder, *done);
  CHECK(open(in_directory(folder))->cluster_id() == id);
  CHECK(value_of(open(in_directory(folder))->read().find(key_of("shared"))) == "2");
}

TEST_CASE("a store without a valid manifest is rebuilt from the contents of its files") {
  scratch_directory place;
  const auto folder = make_lives(place);
  SECTION("CURRENT is gone") {
    fs::remove(folder + "/CURRENT");
  }
  SECTION("the MANIFEST is cut") {
    fs::resize_file(files_of(folder, "MANIFEST").back(), 60);
  }
  SECTION("the MANIFEST is gone") {
    fs::remove(files_of(folder, "MANIFEST").back());
  }
  REQUIRE_FALSE(store::open(in_directory(folder)));
  const auto done = salvage(folder);
  REQUIRE(done);
  INFO(lines(*done));
  CHECK(done->objects == 91);
  check_new(folder, *done);
}

TEST_CASE("a store that has nothing but write-ahead logs does without a MANIFEST") {
  scratch_directory place;
  const auto folder = place.path();
  {
    const auto store = open(in_directory(folder));
    for (const auto* name : {"a", "b", "c"})
      must(commit(*store, just(put(name, "1"))));
    must(commit(*store, just(remove("b"))));
  }
  fs::remove(files_of(folder, "MANIFEST").back());
  const auto done = salvage(folder);
  REQUIRE(done);
  INFO(lines(*done));
  CHECK(done->objects == 2);
  check_new(folder, *done);
}

TEST_CASE("of a table with a damaged block only that block is lost, and the change log helps") {
  scratch_directory place;
  const auto folder = make_lives(place);
  const auto tables = files_of(folder, ".sst");
  REQUIRE(tables.size() >= 3);
  for (const auto& each : tables) {
    const auto size = fs::file_size(each);
    if (size < 20'000) continue;
    const auto copy = place.path("copy");
    fs::remove_all(copy);
    fs::copy(folder, copy);
    const auto file = fs::path{copy} / each.filename();
    std::fstream bytes{file, std::ios::in | std::ios::out | std::ios::binary};
    bytes.seekp(static_cast<std::streamoff>(size / 3));
    bytes.write("damage", 6);
    bytes.close();
    const auto done = salvage(copy);
    INFO(each.filename() << ": " << (done ? std::string{} : done.error().message));
    REQUIRE(done);
    INFO(lines(*done));
    CHECK_FALSE(done->damage.empty());
    CHECK(done->objects == 91);  // each is in one table or in the other
    check_new(copy, *done);
  }
}

TEST_CASE("a store in use and a folder without one are not salvaged") {
  scratch_directory place;
  const auto store = open(in_directory(place.path()));
  CHECK(salvage(place.path()).error().code == errc::locked);
  fs::create_directories(place.path("empty"));
  CHECK(salvage(place.path("empty")).error().code == errc::io);
}

// A directory with one file.
void make_directory(const std::string& path, const std::string& file) {
  fs::create_directories(path);
  std::ofstream{fs::path{path} / file} << file;
}

TEST_CASE("a directory is replaced, and there is one at its place when the names are exchanged") {
  scratch_directory place;
  const auto folder = place.path(), made = place.path("made"), aside = place.path("aside");
  make_directory(folder, "old");
  make_directory(made, "new");
  const bool can_exchange = GENERATE(true, false);
  const auto exchange = [&](const std::string& one, const std::string& other) {
    // A process that is killed here leaves the old directory.
    CHECK(fs::exists(folder + "/old"));
    CHECK_FALSE(fs::exists(made));
    return can_exchange && exchange_names(one, other);
  };
  REQUIRE(replace_directory(folder, made, aside, exchange));
  CHECK(fs::exists(folder + "/new"));
  CHECK(fs::exists(aside + "/old"));
  CHECK_FALSE(fs::exists(made));
}

TEST_CASE("a directory that cannot be replaced is left as it is") {
  scratch_directory place;
  const auto folder = place.path(), made = place.path("made"), aside = place.path("aside");
  make_directory(folder, "old");
  CHECK(replace_directory(folder, made, aside).error().code == errc::io);
  make_directory(made, "new");
  make_directory(aside, "older");
  CHECK(replace_directory(folder, made, aside).error().code == errc::io);
  CHECK(fs::exists(folder + "/old"));
  CHECK(fs::exists(made + "/new"));
}

TEST_CASE("no empty store is made where an interrupted salvage has left a copy") {
  scratch_directory place;
  const auto folder = place.path();
  const auto copy = salvaged_copy_of(folder);
  must(commit(*open(in_directory(folder)), just(put("kept", "1"))));
  fs::rename(folder, copy);
  const auto refused = refusal_of(folder);
  CHECK(refused.code == errc::corrupt);
  CHECK_THAT(refused.message, Catch::Contains("`troupe store salvage` was interrupted") &&
                                  Catch::Contains("rename " + copy + " to " + folder));
  CHECK_FALSE(fs::exists(folder));
  fs::rename(copy, folder);
  CHECK(open(in_directory(folder))->read().size() == 1);
}

}  // namespace
}  // namespace troupe::persistence::testing
