#include "persistence/planes_scenario.hpp"

#include <spdlog/fmt/fmt.h>

#include <array>
#include <catch2/catch.hpp>
#include <map>
#include <random>
#include <set>

#include "persistence/engine/memory_engine.hpp"
#include "persistence/fixture.hpp"
#include "persistence/model_log.hpp"
#include "persistence/replica/leased_log.hpp"
#include "persistence/replica/log_record.hpp"
#include "persistence/replica/replicated_store.hpp"

namespace troupe::persistence::testing {

namespace {

constexpr int actions = 800;
// The probability that a step is lost, in addition to the model's losses.
constexpr double lost_steps = 0.02;
// Rounds without faults until everything pending has completed.
constexpr int peace = 12;
// The same until the audit has compared all pages, of five keys each.
constexpr int audited_peace = 60;
// Actions of the log after a store was opened again: a full log lets it repeat some for ever.
constexpr int opening_steps = 40;
// Shifts the seed of connections that follow on a killed one.
constexpr std::uint64_t later_connections = 1'000'003;

std::shared_ptr<memory_disk> copy_of(const memory_disk& disk) {
  auto made = std::make_shared<memory_disk>();
  made->tables = disk.tables;
  made->sizes_bytes = disk.sizes_bytes;
  made->acknowledged = disk.acknowledged;
  return made;
}

struct plane {
  std::string name;
  std::shared_ptr<memory_disk> disk = std::make_shared<memory_disk>();
  std::shared_ptr<memory_disk> synced = std::make_shared<memory_disk>();  // an earlier state of it
  std::uint64_t seed = 0;
  bool is_dying = false;  // clients get no response any more
  model_log* log = nullptr;
  mutant_log* between = nullptr;
  std::unique_ptr<replicated_store> store;
  revision fence = 0;  // of the newest term, also after its end, for late writes
};

// One write and its response. Its value, "<number>" or "<number fence>", is unique.
struct told {
  revision fence = 0;
  std::optional<outcome> answer;
};

// The only removal of an object.
struct told_removal {
  std::string key;
  std::optional<outcome> answer;
};

std::string value_of(std::size_t number, revision fence) {
  return fmt::format("<{} {}>", number, fence);
}

class scenario {
 public:
  scenario(std::uint64_t seed, mutant without, double partial, bool kills)
      : without_{without}, partial_{partial}, kills_{kills}, random_{seed}, kill_random_{seed} {
    for (std::size_t i = 0; i < planes_.size(); ++i) {
      planes_[i].name = fmt::format("s{}", i);
      planes_[i].seed = seed * planes_.size() + i;
      open(planes_[i]);
      planes_[i].log->run();
    }
  }

  std::vector<std::string> run() {
    for (int i = 0; i < actions; ++i) {
      auto& chosen = planes_[random_() % planes_.size()];
      act(chosen);
      if (kills_) disturb(chosen);
      if (random_() % 60 == 0) cluster_.end_all_leases();
      if (random_() % 400 == 0) cluster_.compact(cluster_.newest());
      // Responses arrive but steps do not: a cut in one direction.
      if (random_() % 20 == 0) chosen.log->stall_steps();
      if (random_() % 30 == 0) chosen.log->resume_steps();
      if (random_() % 10 == 0) chosen.log->fire_slow();
      chosen.log->step();
    }
    // At the end of a lease several objects are removed at one revision.
    if (partial_ > 0) cluster_.end_all_leases();
    if (kills_) end_disturbances();
    for (auto& each : planes_) {
      each.between->stop_dropping();
      each.log->resume_steps();
    }
    for (int i = 0; i < (partial_ > 0 ? audited_peace : peace); ++i)
      for (auto& each : planes_) {
        each.log->fire_slow();
        each.log->run();
      }
    check_writes();
    check_removals();
    if (kills_) check_leader();
    check_terms();
    check_states();
    check_audit();
    return std::move(problems_);
  }

 private:
  void open(plane& mine) {
    auto log = std::make_unique<model_log>(
        cluster_,
        model_faults{
            .seed = mine.seed, .lost = 0.2, .cut = 0.05, .partial = partial_, .threaded = false});
    mine.log = log.get();
    store_options options;
    options.history_revisions = 1'000'000;
    // As over etcd: that above sees the revisions of what ends by a lease as those of others.
    auto leased = std::make_unique<leased_log>(
        std::move(log), lease_rule{key_of("leased"), std::chrono::seconds{60}});
    auto between = std::make_unique<mutant_log>(std::move(leased), without_, mine.seed, lost_steps);
    mine.between = between.get();
    auto opened = replicated_store::open(options, memory_engine_on(mine.disk), std::move(between),
                                         "model", mine.name);
    REQUIRE(opened);
    mine.store = std::move(*opened);
    mine.store->campaign({mine.name, std::chrono::seconds{10}}, [&mine](revision fence) {
      if (fence != 0) mine.fence = fence;
    });
  }

  // -- kills and a full log -----------------------------------------------------------------------

  void disturb(plane& at) {
    if (kill_random_() % 8 == 0) remove_one(at);
    if (kill_random_() % 80 == 0) cluster_.full(true);
    if (kill_random_() % 20 == 0) cluster_.full(false);
    if (kill_random_() % 60 == 0) at.synced = copy_of(*at.disk);
    if (kill_random_() % 80 == 0) kill(at);
    if (!orphans_.empty() && kill_random_() % 4 == 0) {
      cluster_.execute(orphans_.back());
      orphans_.pop_back();
    }
  }

  // By a signal, or by a power failure, which loses the newest writes of the replica.
  void kill(plane& at) {
    auto left = copy_of(*at.disk);  // before the store ends in an orderly way
    for (auto& each : at.log->unfinished())
      if (kill_random_() % 2 == 0) orphans_.push_back(std::move(each));
    at.is_dying = true;
    at.store.reset();
    at.is_dying = false;
    at.disk = kill_random_() % 2 == 0 ? std::move(left) : copy_of(*at.synced);
    at.seed += later_connections;
    open(at);
    for (int i = 0; i < opening_steps; ++i)
      at.log->step();
  }

  void end_disturbances() {
    cluster_.full(false);
    for (const auto& each : orphans_)
      cluster_.execute(each);
    if (const auto lease = cluster_.lease_of(std::string{leader_key}); lease != 0)
      cluster_.end(lease);
  }

  // While the log is full it takes nothing else.
  void remove_one(plane& at) {
    std::string key;
    revision last = 0;
    at.store->read().scan(key_of("new"), {},
                          [&](std::string_view found, const api::object_ptr& of) {
                            if (!removed_.emplace(found).second) return true;
                            key = found;
                            last = of->revision();
                            return false;
                          });
    if (key.empty()) return;
    const auto number = removals_.size();
    removals_.push_back({key, {}});
    at.store->submit(only_if(last, remove(key.substr(key.rfind('/') + 1))),
                     [this, &at, number](const outcome& result) {
                       removals_[number].answer = heard(at, result);
                       if (result) acknowledged_ = std::max(acknowledged_, result->at);
                     });
  }

  static outcome heard(const plane& from, const outcome& result) {
    return from.is_dying ? outcome{fail(errc::unknown, "it was killed")} : result;
  }

  // -- clients ------------------------------------------------------------------------------------

  void act(plane& at) {
    // This one has few writes of its own for which a barrier would have to wait.
    if (&at == &planes_.back() && random_() % 8 != 0) return random_() % 2 == 0 ? ask(at) : void();
    switch (random_() % 7) {
      case 0:
        return write(at, "blind", std::nullopt, 0);
      case 1:
        return write(at, fmt::format("new{}", writes_.size()), 0, 0);
      case 2: {
        const auto name = fmt::format("swapped{}", random_() % 3);
        const auto found = at.store->read().find(key_of(name));
        return write(at, name, found ? found->revision() : 0, 0);
      }
      case 3:
        if (at.fence != 0) write(at, "led", std::nullopt, at.fence);
        return;
      case 4:
        return ask(at);
      case 5:
        return write(at, fmt::format("leased{}", random_() % 5), std::nullopt, 0);
      default:
        return;
    }
  }

  void write(plane& at, const std::string& name, std::optional<revision> when, revision fence) {
    const auto number = writes_.size();
    writes_.push_back({fence, {}});
    auto change = put(name, value_of(number, fence));
    auto request = when ? only_if(*when, std::move(change)) : just(std::move(change));
    request.fence = fence;
    // With an author a copy can be compared with the log when it is opened again.
    if (kills_) request.cause.author = "user";
    // A step of several objects, of which one may be lost. This value is that of no write.
    if (partial_ > 0) request.mutations.push_back(put(fmt::format("beside{}", number % 5), "<>"));
    at.store->submit(std::move(request), [this, &at, number](const outcome& result) {
      writes_[number].answer = heard(at, result);
      if (at.is_dying) return;
      if (result)
        acknowledged_ = std::max(acknowledged_, result->at);
      else if (result.error().code == errc::conflict)
        check_conflict(at, result.error());
    });
  }

  // A read after a conflict must show its cause, unless that was lost and not yet found.
  void check_conflict(const plane& at, const error& reason) {
    if (partial_ > 0) return;
    const auto found = at.store->read().find(reason.key);
    const auto seen = found ? found->revision() : 0;
    if (seen < reason.actual)
      problem("a conflict with revision {} of {} was told while {} was known", reason.actual,
              reason.key, seen);
  }

  // A barrier that failed promises nothing.
  void ask(plane& at) {
    ++asked_;
    at.store->barrier([this, &at, before = acknowledged_](const expected<revision>& passed) {
      --asked_;
      if (at.is_dying || !passed) return;
      if (const auto seen = at.store->read().at(); seen < before)
        problem("a barrier showed revision {}, and {} was acknowledged before", seen, before);
    });
  }

  void check_writes() {
    if (asked_ != 0) problem("{} barriers are not answered", asked_);
    std::map<std::string, std::vector<revision>> happened;
    for (const auto& step : cluster_.witness())
      for (const auto& each : step.changes)
        if (each.value && each.key.starts_with("/registry/"))
          happened[each.value->substr(each.value->find('<'),
                                      each.value->find('>') - each.value->find('<') + 1)]
              .push_back(step.at);
    for (std::size_t i = 0; i < writes_.size(); ++i) {
      const auto& answer = writes_[i].answer;
      const auto& at = happened[value_of(i, writes_[i].fence)];
      if (!answer) problem("write {} is not answered", i);
      if (at.size() > 1) problem("write {} happened {} times", i, at.size());
      if (answer && *answer && (at.empty() || at.front() != (*answer)->at))
        problem("write {} was acknowledged at {} and is not there", i, (*answer)->at);
      if (answer && !*answer && answer->error().code != errc::unknown && !at.empty())
        problem("write {} was refused and happened", i);
    }
  }

  void check_removals() {
    std::map<std::string, std::vector<revision>> happened;
    for (const auto& step : cluster_.witness())
      for (const auto& each : step.changes)
        if (!each.value) happened[each.key].push_back(step.at);
    for (const auto& [key, answer] : removals_) {
      const auto& at = happened[key];
      if (!answer) problem("the removal of {} is not answered", key);
      if (at.size() > 1) problem("the removal of {} happened {} times", key, at.size());
      if (answer && *answer && (at.empty() || at.front() != (*answer)->at))
        problem("the removal of {} was acknowledged at {} and is not there", key, (*answer)->at);
      if (answer && !*answer && answer->error().code != errc::unknown && !at.empty())
        problem("the removal of {} was refused and happened", key);
    }
  }

  // Somebody leads, and all show it.
  void check_leader() {
    const auto held = cluster_.find(std::string{leader_key});
    if (!held) return problem("nobody leads");
    const auto leader = read_leader(held->created, held->value);
    for (const auto& each : planes_)
      if (const auto shown = each.store->stats().leader; shown->term != leader.term)
        problem("{} shows the term {}, and it is {}", each.name, shown->term, leader.term);
  }

  // Compares the leader key at each revision with the fence of the write.
  void check_terms() {
    revision term = 0;
    for (const auto& step : cluster_.witness())
      for (const auto& each : step.changes) {
        if (each.key == leader_key) term = each.value ? each.created : 0;
        if (!each.value || each.key != key_of("led")) continue;
        const auto text = each.value->substr(each.value->find('<') + 1);
        const auto fence = std::stoull(text.substr(text.find(' ')));
        if (fence != term)
          problem("revision {} is of the term {} and happened in {}", step.at, fence, term);
      }
  }

  void check_states() {
    auto all = cluster_.values();
    std::erase_if(all, [](const auto& each) { return each.first.starts_with(own_prefix); });
    for (const auto& each : planes_) {
      std::map<std::string, std::string> mine;
      each.store->read().scan({}, {}, [&](std::string_view key, const api::object_ptr& found) {
        mine[std::string{key}] = api::to_storage(found->kind(), found->content());
        return true;
      });
      if (mine != all) problem("a control plane has another state than the log");
    }
  }

  void check_audit() {
    if (partial_ > 0) return;
    for (const auto& each : planes_)
      if (const auto found = each.store->audit_differences(); found != 0)
        problem("the audit found {} differences in a state without any", found);
  }

  template <class... Parts>
  void problem(const char* format, const Parts&... parts) {
    problems_.push_back(fmt::format(fmt::runtime(format), parts...));
  }

  const captured_log quiet_;
  const mutant without_;
  const double partial_;
  const bool kills_;
  model_cluster cluster_;
  std::mt19937_64 random_, kill_random_;
  std::vector<log_transaction> orphans_;  // of killed control planes, and may still happen
  std::set<std::string> removed_;
  std::vector<told> writes_;
  std::vector<told_removal> removals_;
  revision acknowledged_ = 0;
  int asked_ = 0;
  std::vector<std::string> problems_;
  std::array<plane, 3> planes_;  // last, because their responses arrive here
};

}  // namespace

std::vector<std::string> run_planes(std::uint64_t seed, mutant without, double partial) {
  return scenario{seed, without, partial, false}.run();
}

std::vector<std::string> run_killed_planes(std::uint64_t seed) {
  return scenario{seed, mutant::none, 0, true}.run();
}

}  // namespace troupe::persistence::testing
