#include "runtime/simulation.hpp"

#include <algorithm>
#include <caf/execution_unit.hpp>
#include <random>
#include <stdexcept>
#include <vector>

#include "runtime/core/actor_system_impl.hpp"
#include "runtime/defaults.hpp"
#include "runtime/detail/actor_cell.hpp"

namespace troupe::runtime {

namespace {

class virtual_clock final : public clock {
 public:
  time_point now() const noexcept override { return now_; }
  wall_time wall_now() const noexcept override {
    return defaults::simulation_epoch + now_.time_since_epoch();
  }
  void move_to(time_point later) noexcept { now_ = std::max(now_, later); }

 private:
  time_point now_{};
};

// The single random source for all decisions of the seed.
class random_source {
 public:
  explicit random_source(std::uint64_t seed) : source_{seed} {}

  std::size_t below(std::size_t count) {
    return static_cast<std::size_t>((static_cast<unsigned __int128>(source_()) * count) >> 64);
  }
  bool chance(double probability) {
    if (probability <= 0) return false;
    return static_cast<double>(source_() >> 11) * 0x1.0p-53 < probability;
  }

 private:
  std::mt19937_64 source_;
};

// Jobs wait until the simulation chooses one.
class stepped_dispatcher final : public dispatcher, public caf::execution_unit {
 public:
  void push(caf::resumable* job) override { jobs_.push_back(job); }
  void exec_later(caf::resumable* job) override { push(job); }
  void start(caf::actor_system& system, std::size_t) override { system_ = &system; }
  void stop() override {
    while (!empty())
      run(jobs_.size() - 1);
  }

  bool empty() const noexcept { return jobs_.empty(); }
  std::size_t size() const noexcept { return jobs_.size(); }

  // Runs one message of the actor.
  void run(std::size_t index) {
    auto* job = std::exchange(jobs_[index], jobs_.back());
    jobs_.pop_back();
    if (job->resume(this, 1) == caf::resumable::resume_later) {
      push(job);
    } else {
      caf::intrusive_ptr_release(job);
    }
  }

 private:
  std::vector<caf::resumable*> jobs_;
};

}  // namespace

struct simulation::impl final : observer {
  explicit impl(std::uint64_t seed_value) : seed{seed_value}, random{seed_value} {
    auto own_clock = std::make_unique<virtual_clock>();
    auto own_jobs = std::make_unique<stepped_dispatcher>();
    time = own_clock.get();
    jobs = own_jobs.get();
    system_options options;
    options.seed = seed;
    auto shared = std::make_shared<system_core>(options, std::move(own_clock), std::move(own_jobs));
    shared->observing = this;
    shared->numbers_from_one = true;
    timers = &shared->timers;
    constexpr std::size_t no_threads = 0;
    system.reset(new runtime::actor_system{
        actor_system::simulated{}, std::make_unique<actor_system::impl>(shared, no_threads)});
  }

  void before(const actor_cell& cell, const envelope& e) override {
    mix(cell.id());
    mix(static_cast<std::uint64_t>(e.kind));
    if (e.content) mix(std::hash<std::string_view>{}(e.content.type().name()));
    mix(static_cast<std::uint64_t>(time->now().time_since_epoch().count()));
    const auto& [kind, name, restart] = cell.options();
    if (restart && random.chance(plan.crash) && (!plan.may_crash || plan.may_crash(kind, name))) {
      throw std::runtime_error{"a fault of the simulation"};
    }
  }

  void mix(std::uint64_t value) noexcept {
    trace = (trace ^ value) * 0x9e3779b97f4a7c15;
    trace ^= trace >> 29;
  }

  // Fires the timers due now; returns false if there were none.
  bool tick() {
    const auto next = timers->next();
    return next && *next <= time->now() && timers->fire(time->now()) > 0;
  }

  const std::uint64_t seed;
  random_source random;
  fault_plan plan;
  std::uint64_t trace = 0;
  virtual_clock* time = nullptr;
  stepped_dispatcher* jobs = nullptr;
  timer_service* timers = nullptr;
  std::unique_ptr<runtime::actor_system> system;
};

simulation::simulation(std::uint64_t seed) : impl_{std::make_unique<impl>(seed)} {}

simulation::~simulation() = default;

runtime::actor_system& simulation::system() noexcept {
  return *impl_->system;
}

std::uint64_t simulation::seed() const noexcept {
  return impl_->seed;
}

void simulation::faults(fault_plan plan) {
  impl_->plan = std::move(plan);
}

std::uint64_t simulation::trace() const noexcept {
  return impl_->trace;
}

bool simulation::step() {
  auto& jobs = *impl_->jobs;
  impl_->tick();
  if (jobs.empty()) return false;
  const auto picked = impl_->random.below(jobs.size());
  if (!impl_->random.chance(impl_->plan.delay)) jobs.run(picked);
  return true;
}

std::size_t simulation::settle(std::size_t limit) {
  std::size_t steps = 0;
  while (steps < limit && step())
    ++steps;
  return steps;
}

void simulation::advance(duration by) {
  const auto target = impl_->time->now() + by;
  settle();
  for (auto next = impl_->timers->next(); next && *next <= target; next = impl_->timers->next()) {
    impl_->time->move_to(*next);
    settle();
  }
  impl_->time->move_to(target);
}

bool simulation::run_until(const std::function<bool()>& done, duration limit) {
  const auto deadline = impl_->time->now() + limit;
  for (;;) {
    settle();
    if (done()) return true;
    const auto next = impl_->timers->next();
    if (!next || *next > deadline) {
      impl_->time->move_to(deadline);
      return false;
    }
    impl_->time->move_to(*next);
  }
}

}  // namespace troupe::runtime
