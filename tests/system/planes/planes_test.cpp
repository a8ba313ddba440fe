// Three control planes over three etcd members, with faults of all of them and of their network,
// while clients write, read and watch. Their responses are checked against etcd's own history.
#include <fmt/format.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdlib>
#include <iostream>

#include "persistence/replica/log_record.hpp"
#include "support/seeds.hpp"
#include "support/skip.hpp"
#include "system/network/network_space.hpp"
#include "system/planes/final_state.hpp"
#include "system/planes/plane_faults.hpp"
#include "system/planes/plane_load.hpp"

using namespace troupe::test;
using namespace std::chrono_literals;
namespace persistence = troupe::persistence;
using clock_type = std::chrono::steady_clock;

namespace {

// After each fault this many writes must succeed within `peace_limit`, or within ten times what
// they took before the first one.
constexpr std::size_t writes_of_peace = 20;
constexpr std::chrono::milliseconds peace_limit{20'000};

std::chrono::milliseconds since(clock_type::time_point begin) {
  return std::chrono::duration_cast<std::chrono::milliseconds>(clock_type::now() - begin);
}

// The list of TROUPE_PLANES_FAULTS: parts of names (plane_faults::choose); empty: all faults.
std::string filter_of_faults() {
  const char* list = std::getenv("TROUPE_PLANES_FAULTS");
  return list == nullptr ? "" : list;
}

void run(std::uint64_t seed, std::chrono::seconds time) {
  const auto filter = filter_of_faults();
  const auto chosen = plane_faults::choose(filter);
  if (!chosen.problem.empty()) FAIL("TROUPE_PLANES_FAULTS: " << chosen.problem);
  plane_cluster cluster;
  plane_load load{cluster, {.seed = seed}};
  plane_faults faults{cluster, seed, chosen.used};
  const auto started = clock_type::now();
  REQUIRE(load.goes_on(writes_of_peace, settle_limit));
  const auto begin = clock_type::now();
  const auto limit = std::max(peace_limit, 10 * since(started));
  std::chrono::milliseconds longest{0};
  bool are_well = true;
  while (are_well && clock_type::now() < begin + time) {
    const auto name = faults.next();
    const auto over = clock_type::now();
    INFO("after " << name);
    // What was answered until here is checked in any case.
    CHECK(faults.problems() == std::vector<std::string>{});
    const bool goes_on = load.goes_on(writes_of_peace, limit);
    CHECK(goes_on);
    are_well = goes_on && faults.problems().empty();
    if (!are_well) std::cout << describe(cluster);
    longest = std::max(longest, since(over));
    std::cout << fmt::format("planes: {} s: {}; as before {} ms later\n", since(begin) / 1s, name,
                             since(over).count())
              << std::flush;
  }
  const auto found = collect(cluster, load, are_well);
  CHECK(std::any_of(found.watches.begin(), found.watches.end(),
                    [](const watch_span& each) { return !each.events.empty(); }));
  std::size_t terms = 0;
  for (const auto& step : found.history)
    for (const auto& each : step.changes)
      terms += each.key == persistence::leader_key && each.value ? 1 : 0;
  CHECK(terms > 0);
  std::cout
      << fmt::format(
             "planes: seed {}, {} s: {} revisions, {} terms; {}; longest until {} writes were "
             "done again: {} ms\n",
             seed, since(begin) / 1s, found.history.size(), terms, load.summary(), writes_of_peace,
             longest.count())
      << std::flush;
  const auto& times = faults.hand_overs();
  if (!times.empty())
    std::cout << fmt::format("planes: {} leaders killed, another one led after {} ms at most\n",
                             times.size(), std::max_element(times.begin(), times.end())->count());
  CHECK(faults.late_hand_overs() == std::vector<std::string>{});
  for (const auto& [name, count] : faults.counts())
    std::cout << fmt::format("planes: {} x {}\n", count, name);
  std::cout << (filter.empty() ? std::string{"planes: all kinds of faults\n"}
                               : fmt::format("planes: only faults of \"{}\"\n", filter))
            << std::flush;
  CHECK(load.problems() == std::vector<std::string>{});
  CHECK(evaluate(found) == std::vector<std::string>{});
}

std::chrono::seconds seconds_of(const char* variable, std::chrono::seconds usual) {
  const char* text = std::getenv(variable);
  return text == nullptr ? usual : std::chrono::seconds{std::atoi(text)};
}

bool possible() {
  if (!network_space::possible()) return false;
  const auto reason = plane_cluster::missing();
  if (!reason.empty()) skip(reason);
  return reason.empty();
}

}  // namespace

TEST_CASE("what three control planes tell while all fails is what etcd has",
          "[etcd][network][planes]") {
  if (!possible()) return;
  for_each_seed(1, [](std::uint64_t seed) { run(seed, 15s); });
}

// TROUPE_PLANES_SECONDS: duration for each seed. TROUPE_PLANES_FAULTS: the kinds of faults.
TEST_CASE("what three control planes tell is what etcd has, for long", "[.long][planes_faults]") {
  if (!possible()) return;
  for_each_seed(1,
                [](std::uint64_t seed) { run(seed, seconds_of("TROUPE_PLANES_SECONDS", 600s)); });
}
