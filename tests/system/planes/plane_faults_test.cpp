// The choice of faults by a list of parts of their names.
#include "system/planes/plane_faults.hpp"

#include <catch2/catch.hpp>

using namespace troupe::test;
using Catch::Matchers::Contains;

TEST_CASE("a list chooses the faults whose names contain an entry of it", "[planes][judge]") {
  const auto all = plane_faults::choose("").used;
  CHECK(all.size() > 20);
  const auto late = plane_faults::choose("late requests").used;
  CHECK(late.size() == 1);
  const auto two = plane_faults::choose("late requests,before it sends").used;
  CHECK(two.size() == 2);
  CHECK_THAT(two, Contains(late));
  // A fault that several entries name is chosen once.
  CHECK(plane_faults::choose("late requests,late req").used == late);
  CHECK(plane_faults::choose(" ").used == all);
}

TEST_CASE("an entry that no fault has in its name is reported with all names", "[planes][judge]") {
  const auto wrong = plane_faults::choose("late requests,no such fault");
  CHECK(wrong.used.empty());
  CHECK_THAT(wrong.problem, Contains("\"no such fault\"") && Contains("full quota") &&
                                Contains("pause of the one that leads, with late requests"));
}
