#include "system/planes/plane_faults.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <fstream>
#include <set>
#include <sstream>
#include <string_view>
#include <thread>
#include <utility>

#include "system/network/joined_cluster.hpp"
#include "system/node.hpp"

namespace troupe::test {

using namespace std::chrono_literals;

namespace {

constexpr auto longer_than_a_lease = plane_cluster::leader_lease + 1s;
constexpr std::chrono::milliseconds repair_limit{300'000}, deletion_limit{60'000};
constexpr std::chrono::seconds clock_step{3'600};
// The lease, an election of etcd's (etcd_machine.cpp), and a second; more while this program, and
// so all others, does not run as it should: a multiple of its longest pause.
constexpr std::chrono::milliseconds hand_over_limit = plane_cluster::leader_lease + 500ms + 1s;
constexpr int pauses_of_a_hand_over = 10;
// A bound, so that a control plane that reads the state in pages can finish.
constexpr int compactions_of_a_start = 5;
// Delay of each sync, as on a worn-out disk.
constexpr std::chrono::milliseconds sync_delay{300};
// Size of a value that fills the database; etcd accepts requests of up to 1.5 MiB.
constexpr std::size_t filler_bytes = 1'000'000;
constexpr int fillers = 80;
// Maximum size of a repaired database, far below the members' quota.
constexpr std::size_t small_bytes = 30'000'000;

virtual_switch::port port_of_plane(std::size_t index) {
  return static_cast<virtual_switch::port>(index + 1);
}

// 0: no response.
int status_of(const machine& plane, const std::string& method, const std::string& path,
              const std::string& body = {}) {
  try {
    return client_on(plane)
        ->request(method, path, body, {{"content-type", "application/json"}})
        .status;
  } catch (const std::runtime_error&) {
    return 0;
  }
}

}  // namespace

plane_faults::plane_faults(plane_cluster& cluster, std::uint64_t seed,
                           std::vector<std::size_t> used)
    : cluster_{cluster}, random_{seed}, used_{std::move(used)} {}

const std::vector<plane_faults::fault>& plane_faults::all() {
  static const std::vector<fault> each{
      {"kill -9 of a control plane", &plane_faults::kill_plane},
      {"kill -9 of the one that leads", &plane_faults::kill_leader},
      {"kill -9 of both leaders", &plane_faults::kill_both_leaders},
      {"pause of the one that leads beyond its lease", &plane_faults::pause_leader},
      {"kill -9 of a member", &plane_faults::kill_member},
      {"kill -9 of two members", &plane_faults::kill_two_members},
      {"pause of a member", &plane_faults::pause_member},
      {"cut from a control plane to all members", &plane_faults::cut_one_way},
      {"cut from all members to a control plane", &plane_faults::cut_back},
      {"cut between a control plane and its member", &plane_faults::cut_from_member},
      {"cut from a member to the others", &plane_faults::cut_off_member},
      {"member lost and replaced", &plane_faults::replace_member},
      {"compaction of what is watched", &plane_faults::compact},
      {"compaction while a control plane starts", &plane_faults::compact_during_start},
      {"full quota", &plane_faults::fill},
      {"slow syncs of a member", &plane_faults::slow_disk},
      {"clock of a control plane an hour off", &plane_faults::step_clock},
#ifndef TROUPE_SANITIZED  // plane_cluster.cpp
      {"clock of a control plane stepped while it runs", &plane_faults::step_running_clock},
#endif
      {"requests that a member passes on late", &plane_faults::delay_requests},
      {"pause of the one that leads, with late requests", &plane_faults::delay_requests_of_leader},
      {"steps that come later than answers", &plane_faults::delay_steps},
      {"pause of the one that leads before it sends", &plane_faults::pause_before_sending}};
  return each;
}

fault_choice plane_faults::choose(const std::string& list) {
  std::set<std::size_t> used;
  std::istringstream entries{list};
  for (std::string entry; std::getline(entries, entry, ',');) {
    const auto found = indexes_of(entry);
    if (found.empty()) {
      fault_choice refused{{}, "no fault has \"" + entry + "\" in its name; there are:"};
      for (const auto& each : all())
        refused.problem += std::string{"\n  "} + each.name;
      return refused;
    }
    used.insert(found.begin(), found.end());
  }
  return {used.empty() ? indexes_of("") : std::vector<std::size_t>{used.begin(), used.end()}, {}};
}

std::vector<std::size_t> plane_faults::indexes_of(const std::string& part) {
  std::vector<std::size_t> found;
  for (std::size_t i = 0; i < all().size(); ++i)
    if (std::string_view{all()[i].name}.find(part) != std::string_view::npos) found.push_back(i);
  return found;
}

std::string plane_faults::next() {
  if (order_.empty()) {
    order_ = used_;
    std::shuffle(order_.begin(), order_.end(), random_);
  }
  const auto& chosen = all()[order_.back()];
  order_.pop_back();
  ++counts_[chosen.name];
  (this->*chosen.happen)();
  for (std::size_t i = 0; i < plane_cluster::size; ++i) {
    if (!cluster_.plane(i).runs())
      problem(fmt::format("{}: {} has ended by itself: {}", chosen.name, cluster_.plane(i).name(),
                          last_part(cluster_.plane(i).log())));
    if (!cluster_.member(i).runs())
      problem(fmt::format("{}: {} has ended by itself", chosen.name, cluster_.member(i).name()));
  }
  if (!cluster_.witness().sees())
    problem("the history is not seen any more: " +
            last_part(read_file(cluster_.folder() / "history.log")));
  return chosen.name;
}

std::size_t plane_faults::any() {
  return random_() % plane_cluster::size;
}

std::size_t plane_faults::leader() {
  return cluster_.leader().value_or(any());
}

void plane_faults::last(std::chrono::milliseconds least, std::chrono::milliseconds most) {
  const auto more = static_cast<std::uint64_t>((most - least).count());
  ::poll(nullptr, 0, static_cast<int>(least.count() + static_cast<int>(random_() % (more + 1))));
}

// -- processes ------------------------------------------------------------------------------------

void plane_faults::kill_plane() {
  auto& one = cluster_.plane(any());
  one.kill();
  last(0ms, 2s);
  one.restart();
}

// Restarts it before another one leads, or after that.
void plane_faults::kill_leader() {
  const auto old = leader();
  const bool is_measured = random_() % 2 == 0 &&
                           soon(repair_limit, [this] { return are_ready(); }) &&
                           cluster_.leader() == old;
  auto& one = cluster_.plane(old);
  one.kill();
  if (is_measured)
    measure_hand_over(old);
  else
    last(0ms, 4s);
  one.restart();
}

bool plane_faults::are_ready() const {
  for (std::size_t i = 0; i < plane_cluster::size; ++i)
    if (status_of(cluster_.plane(i), "GET", "/readyz") != 200) return false;
  return true;
}

void plane_faults::measure_hand_over(std::size_t old) {
  using clock = std::chrono::steady_clock;
  const auto begin = clock::now();
  auto looked = begin;
  clock::duration longest_pause{0};
  const auto is_led = [&] {
    const auto now = clock::now();
    longest_pause = std::max(longest_pause, now - looked);
    looked = now;
    const auto next = cluster_.leader();
    return next && *next != old;
  };
  if (!soon(repair_limit, is_led)) return problem("no other control plane leads");
  const auto in_ms = [](clock::duration time) {
    return std::chrono::duration_cast<std::chrono::milliseconds>(time);
  };
  const auto limit = hand_over_limit + pauses_of_a_hand_over * in_ms(longest_pause);
  hand_overs_.push_back(in_ms(looked - begin));
  if (hand_overs_.back() > limit)
    late_hand_overs_.push_back(
        fmt::format("{} leads no more: {} ms until another one did, limit {} ms",
                    cluster_.plane(old).name(), hand_overs_.back().count(), limit.count()));
}

void plane_faults::kill_both_leaders() {
  auto& one = cluster_.plane(leader());
  auto& member = cluster_.member(cluster_.leading_member());
  member.kill();
  one.kill();
  last(0ms, 4s);
  member.restart();
  one.restart();
}

void plane_faults::pause_leader() {
  auto& one = cluster_.plane(leader());
  one.pause();
  last(longer_than_a_lease, 2 * longer_than_a_lease);
  one.resume();
}

void plane_faults::kill_member() {
  auto& one = cluster_.member(any());
  one.kill();
  last(0ms, 3s);
  one.restart();
}

// Nothing can be written until both are back.
void plane_faults::kill_two_members() {
  const auto kept = any();
  const std::array lost{(kept + 1) % plane_cluster::size, (kept + 2) % plane_cluster::size};
  for (const auto each : lost)
    cluster_.member(each).kill();
  last(3s, 3s);
  for (const auto each : lost)
    cluster_.member(each).restart();
}

void plane_faults::pause_member() {
  auto& one = cluster_.member(random_() % 2 == 0 ? cluster_.leading_member() : any());
  one.signal(SIGSTOP);
  last(1s, 4s);
  one.signal(SIGCONT);
}

// -- the network ----------------------------------------------------------------------------------

void plane_faults::cut_one_way() {
  const auto from = port_of_plane(any());
  for (std::size_t i = 0; i < plane_cluster::size; ++i)
    cluster_.network().set(from, cluster_.member(i).number(), {.cut = true});
  last(1s, 4s);
  cluster_.network().heal();
}

void plane_faults::cut_back() {
  const auto to = port_of_plane(random_() % 2 == 0 ? leader() : any());
  for (std::size_t i = 0; i < plane_cluster::size; ++i)
    cluster_.network().set(cluster_.member(i).number(), to, {.cut = true});
  last(1s, 4s);
  cluster_.network().heal();
}

// The other members are reached.
void plane_faults::cut_from_member() {
  const auto plane = any();
  const auto member = cluster_.members_in_use()[plane];
  cluster_.network().set_both(port_of_plane(plane), cluster_.member(member).number(),
                              {.cut = true});
  last(1s, 4s);
  cluster_.network().heal();
}

// Clients still reach the member.
void plane_faults::cut_off_member() {
  const auto one = random_() % 2 == 0 ? cluster_.leading_member() : any();
  for (std::size_t i = 0; i < plane_cluster::size; ++i)
    if (i != one)
      cluster_.network().set(cluster_.member(one).number(), cluster_.member(i).number(),
                             {.cut = true});
  last(1s, 4s);
  cluster_.network().heal();
}

// -- etcd -----------------------------------------------------------------------------------------

void plane_faults::replace_member() {
  const auto one = any();
  cluster_.member(one).kill();
  if (const auto reason = cluster_.replace_member(one); !reason.empty()) return problem(reason);
  // A member's linearizable read waits until it has executed the log.
  const auto& added = cluster_.member(one);
  const auto has_caught_up = [&] {
    return added.control(added.client_url(), "--command-timeout 10s get /filler/last").code == 0;
  };
  if (!soon(repair_limit, has_caught_up)) return problem("the member that was added is not well");
  // If etcd still has the log since a full quota, the new member has executed all of it, and its
  // database has the size that it had before the repair.
  if (!databases_are_small() && !soon(repair_limit, [this] { return clear_alarm(); }))
    problem("the database of the member that was added stays full");
}

// Compacts revisions that a paused control plane has not seen yet.
void plane_faults::compact() {
  auto& away = cluster_.plane(any());
  away.pause();
  last(500ms, 1s);
  cluster_.control(fmt::format("compact {}", cluster_.witness().at()));
  last(0ms, 500ms);
  away.resume();
}

// The control plane cannot continue from its copy, and reads the state while more is compacted.
void plane_faults::compact_during_start() {
  auto& one = cluster_.plane(any());
  one.kill();
  last(500ms, 1s);
  const auto compact_newest = [this] {
    cluster_.control(fmt::format("compact {}", cluster_.witness().at()));
  };
  compact_newest();
  const std::jthread more{[&compact_newest] {
    for (int i = 0; i < compactions_of_a_start; ++i)
      compact_newest();
  }};
  one.restart();
}

void plane_faults::fill() {
  const auto file = cluster_.folder() / "filler";
  std::ofstream{file} << std::string(filler_bytes, 'x');
  const auto maps = std::string{"/api/v1/namespaces/default/configmaps"};
  const auto name = fmt::format("full{}", counts_["full quota"]);
  const auto& plane = cluster_.plane(any());
  const auto create = fmt::format(R"({{"metadata":{{"name":"{}"}}}})", name);
  // 409: the response to an earlier attempt was lost.
  const auto is_created = [&] {
    const auto status = status_of(plane, "POST", maps, create);
    return status == 201 || status == 409;
  };
  if (!soon(repair_limit, is_created)) problem("no object can be created");
  const auto put = [&](int number) {
    return cluster_.control(fmt::format("put /filler/{} < {}", number, file.string()));
  };
  bool is_full = false;
  for (int i = 0; i < fillers && !is_full; ++i)
    is_full = put(i).code != 0 &&
              cluster_.control("alarm list").output.find("NOSPACE") != std::string::npos;
  if (!is_full) problem("the database does not become full");
  const auto is_removed = [&] {
    const auto status = status_of(plane, "DELETE", maps + "/" + name);
    return status == 200 || status == 404;
  };
  if (!soon(deletion_limit, is_removed)) problem("no object can be deleted while etcd is full");
  last(1s, 2s);
  // Revisions that the witness has not read yet are not compacted, so several rounds may be needed.
  const auto repaired = soon(repair_limit, [&] {
    return cluster_.control("del --prefix /filler/").code == 0 &&
           cluster_.control(fmt::format("compact --physical {}", cluster_.witness().at())).code <=
               1 &&
           clear_alarm();
  });
  if (!repaired) problem("the database stays full");
}

bool plane_faults::databases_are_small() {
  const std::string field = "\"DBSize\" : ";
  const auto text = cluster_.control("endpoint status --write-out fields").output;
  std::size_t members = 0;
  for (auto at = text.find(field); at != text.npos; at = text.find(field, at + 1), ++members)
    if (std::stoull(text.substr(at + field.size())) > small_bytes) return false;
  return members == plane_cluster::size;
}

bool plane_faults::clear_alarm() {
  return cluster_.control("--command-timeout 60s defrag").code == 0 && databases_are_small() &&
         cluster_.control("alarm disarm").code == 0 &&
         cluster_.control("put /filler/last x").code == 0;
}

// Delays each sync of the member by strace.
void plane_faults::slow_disk() {
  auto& one = cluster_.member(any());
  process slow{{"strace", "-f", "-q", "-o", "/dev/null", "-e", "trace=fdatasync,fsync", "-e",
                fmt::format("inject=fdatasync,fsync:delay_enter={}", sync_delay.count() * 1'000),
                "-p", std::to_string(one.id())},
               cluster_.folder() / "strace.log"};
  last(2s, 4s);
  if (slow.wait(0ms)) problem("strace does not reach the member");
}

void plane_faults::step_clock() {
  auto& one = cluster_.plane(any());
  one.kill();
  one.clock_skew(random_() % 2 == 0 ? clock_step : -clock_step);
  one.restart();
  last(1s, 3s);
  one.kill();
  one.clock_skew(0s);
  one.restart();
}

// Forward or back, and then to the right time: each is a step. Often at the leading one.
void plane_faults::step_running_clock() {
  auto& one = cluster_.plane(random_() % 2 == 0 ? leader() : any());
  one.clock_skew(random_() % 2 == 0 ? clock_step : -clock_step);
  last(1s, 3s);
  one.clock_skew(0s);
  if (!soon(repair_limit, [&] { return status_of(one, "GET", "/readyz") == 200; }))
    problem(one.name() + " is not ready after its clock was set right");
}

}  // namespace troupe::test
