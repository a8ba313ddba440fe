// Damaged write-ahead logs that are still needed: the store names them.
#include <spdlog/fmt/fmt.h>

#include <catch2/catch.hpp>

#include "persistence/fixture.hpp"

namespace troupe::persistence::testing {
namespace {

namespace fs = std::filesystem;

// A copy of the folder for the next run, as after kill -9 in this one, which is open.
std::string killed(const scratch_directory& place, int life) {
  const auto next = place.path(std::to_string(life + 1));
  fs::copy(place.path(std::to_string(life)), next);
  return next;
}

TEST_CASE("an older write-ahead log that is missing or shorter is named when the store is opened") {
  scratch_directory place;
  const std::vector<std::pair<std::string, std::string>> writes{
      {"a", "1"}, {"b", "1"}, {"c", "1"}, {"d", "1"}};
  for (int life = 0; life < 4; ++life) {
    const auto store = open(in_directory(place.path(std::to_string(life))));
    must(commit(*store, just(put(writes[life].first, writes[life].second))));
    if (life == 1) must(commit(*store, just(put("a", "2"))));
    killed(place, life);
  }
  const auto last = place.path("4");
  const auto logs = files_in(last, ".log");
  REQUIRE(logs.size() == 4);
  const auto name = logs[1].filename().string();
  std::string words;
  SECTION("missing") {
    fs::remove(logs[1]);
    words = name + " is missing";
  }
  SECTION("shorter") {
    const auto size = fs::file_size(logs[1]);
    fs::resize_file(logs[1], size - 40);
    words = fmt::format("{} had {} bytes and has {}", name, size, size - 40);
  }
  SECTION("nothing") {
    CHECK(problems_in(last).empty());
    CHECK(contents(open(in_directory(last))->read()) ==
          std::vector<std::string>{"a=2@4", "b=1@3", "c=1@5", "d=1@6"});
    return;
  }
  const auto refused = refusal_of(last);
  CHECK(refused.code == errc::corrupt);
  CHECK_THAT(refused.message, Catch::Contains(words) && Catch::Contains("troupe store salvage"));
  CHECK_THAT(problems_in(last).front(), Catch::Contains(words));
}

TEST_CASE(
    "a write-ahead log that was filled by the same run is named when it is missing or shorter") {
  scratch_directory place;
  {
    const auto store = open(in_directory(place.path()));
    int count = 0;
    while (files_in(place.path(), ".log").size() < 2) {
      REQUIRE(count < 100);
      must(commit(*store, just(put(std::to_string(count++), "1", 900'000))));
    }
    must(commit(*store, just(put("last", "1"))));
  }
  const auto logs = files_in(place.path(), ".log");
  REQUIRE(logs.size() == 2);
  const auto size = fs::file_size(logs[0]);
  const auto name = logs[0].filename().string();
  std::string words;
  SECTION("missing") {
    fs::remove(logs[0]);
    words = name + " is missing";
  }
  SECTION("shorter") {
    fs::resize_file(logs[0], size - 40);
    words = fmt::format("{} had {} bytes and has {}", name, size, size - 40);
  }
  const auto refused = refusal_of(place.path());
  CHECK(refused.code == errc::corrupt);
  CHECK_THAT(refused.message, Catch::Contains(words) && Catch::Contains("troupe store salvage"));
  CHECK_THAT(problems_in(place.path()).front(), Catch::Contains(words));
}

}  // namespace
}  // namespace troupe::persistence::testing
