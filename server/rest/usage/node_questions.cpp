#include "server/rest/usage/node_questions.hpp"

#include <mutex>
#include <utility>

#include "actors/access/node_identity.hpp"
#include "actors/link/node_links.hpp"
#include "api/schema/core_node.pb.h"
#include "api/scheme.hpp"
#include "runtime/actor_system.hpp"
#include "server/rest/defaults.hpp"

namespace troupe::server {
namespace {

using actors::node_usage;
using api::core::v1::Node;
using usage_reply = tl::expected<const node_usage*, runtime::request_error>;

// The answers that are still to come; the last one, or who asks the last node, ends it.
class round {
 public:
  explicit round(std::function<void(usage_by_node)> done) : done_{std::move(done)} {}

  void begin() {
    const std::lock_guard lock{mutex_};
    ++left_;
  }
  void end(const std::string& node, const node_usage* usage) {
    std::unique_lock lock{mutex_};
    if (usage != nullptr && usage->problem.empty()) answers_[node] = *usage;
    if (--left_ != 0) return;
    auto answers = std::move(answers_);
    lock.unlock();
    done_(std::move(answers));
  }

 private:
  const std::function<void(usage_by_node)> done_;
  std::mutex mutex_;
  std::size_t left_ = 0;
  usage_by_node answers_;
};

}  // namespace

void ask_nodes(actors::control_plane& plane, const std::set<std::string>& nodes,
               std::function<void(usage_by_node)> done) {
  const auto asked = std::make_shared<round>(std::move(done));
  const auto state = plane.store().read();
  auto& system = plane.system();
  asked->begin();
  for (const auto& name : nodes) {
    const auto node = state.find(api::kind_of<Node>().key({}, name));
    if (!node) continue;
    const auto answered = [asked, name](const usage_reply& reply) {
      asked->end(name, reply ? *reply : nullptr);
    };
    if (actors::has_joined(*node)) {
      if (!plane.links().table().connected(name)) continue;
      asked->begin();
      system.request<node_usage>(plane.links().actor(), actors::ask_usage{name},
                                 defaults::usage_wait, answered);
    } else if (const auto meter = system.actors().find(actors::usage_meter_kind, name)) {
      asked->begin();
      system.request<node_usage>(meter, actors::measure_usage{}, defaults::usage_wait, answered);
    }
  }
  asked->end({}, nullptr);
}

}  // namespace troupe::server
