#include "persistence/planes_scenario.hpp"

#include <spdlog/fmt/fmt.h>

#include <catch2/catch.hpp>

#include "support/seeds.hpp"

namespace troupe::persistence::testing {

namespace {

constexpr std::uint64_t seeds = 200;
// A tenth of these seeds must detect a disabled check.
constexpr std::uint64_t mutant_seeds = 40;
// The probability that a step loses one of its objects.
constexpr double lost_parts = 0.5;
constexpr std::uint64_t audit_seeds = 50;
constexpr std::uint64_t kill_seeds = 100;

}  // namespace

TEST_CASE("the responses to three control planes match the history of their log",
          "[replica][planes][seeds]") {
  test::for_each_seed(seeds, [](std::uint64_t seed) {
    CHECK_THAT(run_planes(seed), Catch::Matchers::Equals(std::vector<std::string>{}));
  });
}

TEST_CASE("the same holds while control planes are killed and the log is full now and then",
          "[replica][planes][seeds]") {
  test::for_each_seed(kill_seeds, [](std::uint64_t seed) {
    CHECK_THAT(run_killed_planes(seed), Catch::Matchers::Equals(std::vector<std::string>{}));
  });
}

TEST_CASE("control planes have the log's state again after they were sent parts of its steps",
          "[replica][planes][seeds]") {
  test::for_each_seed(audit_seeds, [](std::uint64_t seed) {
    CHECK_THAT(run_planes(seed, mutant::none, lost_parts),
               Catch::Matchers::Equals(std::vector<std::string>{}));
  });
}

TEST_CASE("a store without one of its safety checks is detected", "[replica][mutants]") {
  struct guard {
    mutant without;
    const char* problem;  // the problem by which it must be detected
    double partial = 0;
  };
  const auto each = GENERATE(guard{mutant::no_fence, "is of the term"},
                             guard{mutant::no_session, "happened 2 times"},
                             guard{mutant::no_await, "a conflict with revision"},
                             guard{mutant::no_hole_check, "has another state than the log"},
                             guard{mutant::no_fresh, "a barrier showed revision"},
                             guard{mutant::no_audit, "has another state than the log", lost_parts});
  std::uint64_t found = 0;
  for (std::uint64_t seed = 1; seed <= mutant_seeds; ++seed)
    for (const auto& problem : run_planes(seed, each.without, each.partial))
      if (problem.find(each.problem) != std::string::npos) {
        ++found;
        break;
      }
  INFO(each.problem << ": " << found << " of " << mutant_seeds << " seeds");
  CHECK(found >= mutant_seeds / 10);
}

}  // namespace troupe::persistence::testing
