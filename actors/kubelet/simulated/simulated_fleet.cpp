#include "actors/kubelet/simulated/simulated_fleet.hpp"

#include <fmt/format.h>

namespace troupe::actors {

namespace {

class simulated_fleet : public runtime::actor {
 public:
  simulated_fleet(simulated_fleet_options options, core_actors to)
      : options_{std::move(options)}, to_{std::move(to)} {}

  const runtime::behavior& make_behavior() const override {
    static const runtime::behavior nothing = runtime::handlers();
    return nothing;
  }

  void started() override {
    for (std::uint32_t i = 0; i < options_.nodes; ++i) {
      auto node = options_.like;
      node.name = fmt::format("{}{:04}", options_.prefix, i);
      node.number = i;
      if (child("simulated-minion", node.name)) continue;  // outlived a crash of this supervisor
      spawn({.kind = "simulated-minion", .name = node.name},
            runtime::make<simulated_minion>(node, to_));
    }
  }

  std::string describe() const override { return fmt::format("nodes: {}\n", options_.nodes); }

 private:
  const simulated_fleet_options options_;
  const core_actors to_;
};

}  // namespace

runtime::actor_ref spawn_simulated_fleet(runtime::actor_system& system, const core_actors& to,
                                         simulated_fleet_options options) {
  return system.spawn({.kind = "supervisor", .name = "simulated-fleet"},
                      runtime::make<simulated_fleet>(std::move(options), to));
}

}  // namespace troupe::actors
