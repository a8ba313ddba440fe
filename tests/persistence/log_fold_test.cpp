#include "persistence/log/log_fold.hpp"

#include <catch2/catch.hpp>

namespace troupe::persistence {
namespace {

using reach = log_fold::reach;

change_record created(std::string_view key, revision at, std::string_view object) {
  return {change_type::created, at, 0, {}, {}, key, object};
}
change_record updated(std::string_view key, revision born, revision previous,
                      std::string_view object) {
  return {change_type::updated, born, previous, {}, {}, key, object};
}
change_record removed(std::string_view key, revision born, revision previous) {
  return {change_type::removed, born, previous, {}, {}, key, {}};
}

std::string first_problem(log_fold& fold) {
  fold.finish();
  return fold.problems().empty() ? "none" : fold.problems().front();
}

TEST_CASE("a log that agrees with its objects has no problems") {
  log_fold fold{reach::whole_log};
  fold.begin_with("old", {2, 5, "five"});
  fold.add({10, 0}, created("a", 10, "one"));
  fold.add({10, 1}, updated("old", 2, 5, "six"));
  fold.add({12, 0}, updated("a", 10, 10, "two"));
  fold.add({13, 0}, created("b", 13, "x"));
  fold.add({14, 0}, removed("b", 13, 13));
  fold.add({15, 0}, created("b", 15, "y"));
  fold.compare("a", {10, 12, "two"});
  fold.compare("b", {15, 15, "y"});
  fold.compare("old", {2, 10, "six"});
  fold.compare("untouched", {1, 1, "z"});
  CHECK(first_problem(fold) == "none");
  CHECK(fold.records() == 6);
  CHECK(fold.last() == 15);
}

TEST_CASE("the newest part of a log is checked by its contents") {
  log_fold fold{reach::newest_part};
  fold.add({20, 0}, updated("a", 3, 17, "two"));
  fold.add({21, 0}, removed("b", 4, 9));
  fold.compare("a", {3, 20, "two"});
  fold.compare("c", {5, 19, "before"});
  CHECK(first_problem(fold) == "none");
}

TEST_CASE("every kind of contradiction is reported") {
  log_fold fold{reach::whole_log};
  fold.add({10, 0}, created("a", 10, "one"));
  std::string words;
  SECTION("a change is missing within a transaction") {
    fold.add({11, 1}, created("b", 11, "x"));
    words = "after change 0 of revision 10";
  }
  SECTION("what lives is created") {
    fold.add({11, 0}, created("a", 11, "x"));
    words = "revision 11 follows";
  }
  SECTION("what does not live is removed") {
    fold.add({11, 0}, removed("a", 10, 10));
    fold.add({12, 0}, removed("a", 10, 10));
    words = "was removed at 11";
  }
  SECTION("a change follows another state") {
    fold.add({11, 0}, updated("a", 10, 9, "x"));
    words = "made at 9, but the state before was made at 10";
  }
  SECTION("a birth moves") {
    fold.add({11, 0}, updated("a", 9, 10, "x"));
    words = "was created at 9, it was at 10";
  }
  SECTION("a creation is dated otherwise") {
    fold.add({11, 0}, created("b", 10, "x"));
    words = "creates b but says";
  }
  SECTION("the state before is missing") {
    fold.add({11, 0}, updated("b", 3, 4, "x"));
    words = "the state of b before revision 11 is missing";
  }
  SECTION("an object is missing") {
    words = "a was written at revision 10 and is not there";
  }
  SECTION("an object is of another revision") {
    fold.compare("a", {10, 11, "one"});
    words = "a is of revision 11";
  }
  SECTION("an object's bytes differ") {
    fold.compare("a", {10, 10, "two"});
    words = "a differs";
  }
  SECTION("a removed object is there") {
    fold.add({11, 0}, removed("a", 10, 10));
    fold.compare("a", {10, 10, "one"});
    words = "a was removed at revision 11 and is still there";
  }
  SECTION("an object changed behind the log's back") {
    fold.compare("a", {10, 10, "one"});
    fold.compare("b", {3, 12, "x"});
    words = "b says it was changed at revision 12";
  }
  CHECK_THAT(first_problem(fold), Catch::Contains(words));
}

TEST_CASE("unneeded bases are reported") {
  log_fold fold{reach::whole_log};
  fold.begin_with("a", {2, 5, "five"});
  CHECK_THAT(first_problem(fold), Catch::Contains("no change began from"));
  log_fold twice{reach::whole_log};
  twice.begin_with("a", {2, 5, "five"});
  twice.begin_with("a", {2, 6, "six"});
  CHECK_THAT(first_problem(twice), Catch::Contains("two base states of a"));
}

}  // namespace
}  // namespace troupe::persistence
