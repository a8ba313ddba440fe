#include "support/fleet.hpp"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <chrono>
#include <stdexcept>
#include <thread>

#include "actors/core/informer.hpp"
#include "actors/kubelet/simulated/simulated_fleet.hpp"
#include "actors/write/creation.hpp"
#include "api/schema/core_namespace.pb.h"
#include "api/schema/core_node.pb.h"
#include "api/schema/core_pod.pb.h"
#include "api/schema/core_replication.pb.h"
#include "api/scheme.hpp"
#include "support/workloads.hpp"

namespace troupe::test {

using actors::event_type;
using actors::watch_events;
using api::core::v1::Namespace;
using api::core::v1::Node;
using api::core::v1::Pod;
using api::core::v1::ReplicationController;
using clock = std::chrono::steady_clock;

namespace {

constexpr std::chrono::seconds limit{120};

std::string key_of(const std::string& controller) {
  return api::kind_of<ReplicationController>().key("default", controller);
}

}  // namespace

class fleet::observer : public actors::informer {
 public:
  observer(runtime::actor_ref watcher, fleet* home, std::string uncounted)
      : informer{std::move(watcher)}, home_{home}, uncounted_{std::move(uncounted)} {}

  const runtime::behavior& make_behavior() const override {
    static const auto table =
        runtime::handlers(&observer::on_watch_events, &observer::on_watch_ended);
    return table;
  }

  void started() override {
    follow(api::kind_of<Pod>().prefix(), [this](const watch_events& m) { take(m); });
    follow(api::kind_of<Node>().prefix(), [this](const watch_events& m) {
      const std::lock_guard lock{home_->mutex_};
      for (const auto& event : m.events)
        home_->nodes_ += event.type == event_type::added ? 1 : 0;
      home_->changed_.notify_all();
    });
  }

 private:
  void take(const watch_events& m) {
    const std::lock_guard lock{home_->mutex_};
    for (const auto& event : m.events) {
      if (event.type != event_type::added) count(*event.previous, -1);
      if (event.type != event_type::deleted) count(*event.object, 1);
    }
    home_->changed_.notify_all();
  }

  void count(const api::object& object, int by) {
    const auto& pod = object.as<Pod>();
    const auto& labels = pod.metadata().labels();
    if (const auto app = labels.find("app"); app != labels.end() && app->second == uncounted_)
      return;
    const auto step = static_cast<std::size_t>(by);  // wraps around for -1, as intended
    auto& counts = home_->counts_;
    counts.pods += step;
    if (!pod.spec().node_name().empty()) counts.bound += step;
    if (pod.status().phase() == "Running") counts.running += step;
  }

  fleet* home_;
  const std::string uncounted_;
};

fleet::fleet(const std::string& folder, std::size_t nodes, const std::string& uncounted) {
  persistence::store_options on_disk;
  on_disk.directory = folder;
  store_ = std::move(persistence::store::open(std::move(on_disk)).value());
  system_ = std::make_unique<runtime::actor_system>();
  plane_ =
      std::make_unique<actors::control_plane>(*system_, *store_, actors::control_plane_options{});
  system_->spawn({.kind = "observer", .name = "fleet"},
                 runtime::make<observer>(plane_->core_actors().watcher, this, uncounted));
  actors::simulated_fleet_options all;
  all.nodes = static_cast<std::uint32_t>(nodes);
  actors::spawn_simulated_fleet(*system_, plane_->core_actors(), all);
  wait_for("all nodes", [&] {
    const std::lock_guard lock{mutex_};
    return nodes_ == nodes;
  });
  wait_for("the namespace", [&] {
    return store_->read().find(api::kind_of<Namespace>().key({}, "default")) != nullptr;
  });
}

fleet::~fleet() = default;

void fleet::create(const std::vector<std::string>& controllers, int replicas) {
  const auto& kind = api::kind_of<ReplicationController>();
  const auto now = std::chrono::system_clock::now();
  const auto refused = commit(controllers, [&](const std::string& name) {
    auto content = std::make_unique<ReplicationController>(
        replication_controller(name, replicas, {{"app", name}}));
    auto transaction = actors::create_transaction(store_->read(), kind, std::move(content),
                                                  actors::checks::all, now, random_);
    if (!transaction) throw std::runtime_error{transaction.error().message};
    return std::move(*transaction);
  });
  if (!refused.empty()) throw std::runtime_error{"cannot create " + refused.front()};
}

void fleet::scale(const std::vector<std::string>& controllers, int replicas) {
  for (auto left = controllers; !left.empty();) {
    const auto state = store_->read();
    left = commit(left, [&](const std::string& name) {
      const auto old = state.find(key_of(name));
      if (!old) throw std::runtime_error{"there is no controller " + name};
      auto changed = old->copy_as<ReplicationController>();
      changed->mutable_spec()->set_replicas(replicas);
      changed->mutable_metadata()->set_generation(changed->metadata().generation() + 1);
      persistence::transaction transaction;
      transaction.preconditions.push_back({key_of(name), old->revision()});
      transaction.mutations.push_back({key_of(name), &old->kind(), std::move(changed)});
      return transaction;
    });
  }
}

std::vector<std::string> fleet::commit(
    const std::vector<std::string>& controllers,
    const std::function<persistence::transaction(const std::string&)>& make) {
  std::vector<persistence::transaction> all;
  for (const auto& name : controllers)
    all.push_back(make(name));
  std::vector<std::string> refused;
  std::size_t answers = 0;
  for (std::size_t i = 0; i < all.size(); ++i)
    plane_->commit(std::move(all[i]), 1, [&, i](const persistence::outcome& result) {
      const std::lock_guard lock{mutex_};
      if (!result) refused.push_back(controllers[i]);
      ++answers;
      changed_.notify_all();
    });
  // Without a time limit: the store answers each, and its answers refer to local variables.
  std::unique_lock lock{mutex_};
  changed_.wait(lock, [&] { return answers == all.size(); });
  return refused;
}

void fleet::remove(const std::string& name) {
  persistence::transaction gone;
  gone.mutations.push_back({key_of(name), &api::kind_of<ReplicationController>(), nullptr});
  plane_->commit(std::move(gone), 2, [](const persistence::outcome&) {});
}

runtime::actor_ref fleet::controller(const std::string& name) {
  runtime::actor_ref found;
  wait_for("the controller", [&] {
    found = system_->actors().find("replicationcontroller", "default/" + name);
    return static_cast<bool>(found);
  });
  return found;
}

void fleet::stall(const std::string& name) {
  if (!system_->pause(controller(name), std::chrono::minutes{5}))
    throw std::runtime_error{"cannot stall " + name};
}

void fleet::release_controller(const std::string& name) {
  if (!system_->resume(controller(name))) throw std::runtime_error{"cannot let go " + name};
}

void fleet::wait(const std::function<bool(const tally&)>& done) {
  std::unique_lock lock{mutex_};
  if (!changed_.wait_for(lock, limit, [&] { return done(counts_); }))
    throw std::runtime_error{fmt::format("in vain; there are {} pods, {} bound, {} running",
                                         counts_.pods, counts_.bound, counts_.running)};
}

void fleet::wait_for(const char* event, const std::function<bool()>& done) {
  for (const auto end = clock::now() + limit; !done(); std::this_thread::yield())
    if (clock::now() > end) throw std::runtime_error{std::string{"waited in vain for "} + event};
}

// -- one beside many ------------------------------------------------------------------------------

namespace {

// Up and down; only the way up is measured.
double round_of(fleet& on, const std::vector<std::string>& all, std::size_t counted) {
  constexpr int replicas = 1;
  const auto start = clock::now();
  on.scale(all, replicas);
  on.wait([&](const auto& now) { return now.running == replicas * counted; });
  const auto took = std::chrono::duration<double>(clock::now() - start).count();
  on.scale(all, 0);
  on.wait([](const auto& now) { return now.pods == 0; });
  return took;
}

}  // namespace

double delay_beside_a_stalled_controller(const std::string& folder, int pairs) {
  constexpr std::size_t others = 1'000;
  const std::string stalled = "stalled";
  fleet on{folder, 100, stalled};
  std::vector<std::string> all{stalled};
  for (std::size_t i = 0; i < others; ++i)
    all.push_back(fmt::format("rc{}", i));
  on.create(all, 0);
  round_of(on, all, others);  // the first round allocates the memory of all
  std::vector<double> ratios;
  for (int pair = 0; pair < pairs; ++pair) {
    double took[2];  // without, with
    for (const bool first : {true, false}) {
      const bool with = first == (pair % 2 == 0);
      if (with) on.stall(stalled);
      took[with ? 1 : 0] = round_of(on, all, others);
      if (with) on.release_controller(stalled);
    }
    ratios.push_back(took[1] / took[0]);
  }
  const auto middle = ratios.begin() + static_cast<std::ptrdiff_t>(ratios.size() / 2);
  std::nth_element(ratios.begin(), middle, ratios.end());
  return *middle;
}

}  // namespace troupe::test
