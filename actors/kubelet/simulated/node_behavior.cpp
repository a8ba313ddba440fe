#include "actors/kubelet/simulated/node_behavior.hpp"

#include "actors/simulation/settings.hpp"

namespace troupe::actors {

using std::chrono::seconds;

node_state state_of(const api::core::v1::Node& node, runtime::wall_time now,
                    const simulated::policy* policy) {
  const auto& meta = node.metadata();
  const simulated::settings said{simulated::subject::node, meta, policy};
  if (!said.any()) return {};
  if (said.text("down") == "true") return {true, std::nullopt};
  const auto up = said.time("fail-after");
  if (!up) return {};
  // Each node has its own time, so that a hundred of them do not fail at the same time.
  const auto up_for = simulated::longer(*up, simulated::share_of(meta, "fail", 0));
  const auto back = said.time("return-after");
  const auto passed =
      runtime::duration{now - runtime::wall_time{seconds{meta.creation_timestamp().seconds()}}};
  if (!back)
    return passed < up_for ? node_state{false, now + (up_for - passed)}
                           : node_state{true, std::nullopt};
  const auto down_for = simulated::longer(*back, simulated::share_of(meta, "return", 0));
  const auto cycle = up_for + down_for;
  if (cycle.count() <= 0 || passed.count() < 0) return {};
  const auto at = passed % cycle;
  return at < up_for ? node_state{false, now + (up_for - at)}
                     : node_state{true, now + (cycle - at)};
}

}  // namespace troupe::actors
