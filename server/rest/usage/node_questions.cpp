#include "server/rest/usage/node_questions.hpp"

#include <chrono>
#include <utility>

#include "runtime/actor_system.hpp"
#include "server/rest/defaults.hpp"

namespace troupe::server {

void query_nodes(actors::control_plane& plane, const std::set<std::string>& nodes,
                 std::function<void(actors::usage_by_node)> done) {
  auto& system = plane.system();
  const auto collector =
      system.actors().find(actors::usage_collector_kind, actors::usage_collector_kind);
  if (!collector) return done({});
  using reply = tl::expected<const actors::nodes_usage*, runtime::request_error>;
  system.request<actors::nodes_usage>(
      collector, actors::query_nodes{nodes}, defaults::usage_wait,
      [done = std::move(done)](const reply& answered) {
        done(answered ? (*answered)->by_node : actors::usage_by_node{});
      });
}

api::moment wall_now() {
  using namespace std::chrono;
  const auto now = system_clock::now().time_since_epoch();
  const auto whole = floor<seconds>(now);
  return {whole.count(), static_cast<std::int32_t>(nanoseconds{now - whole}.count())};
}

}  // namespace troupe::server
