#include "actors/usage/usage_collector.hpp"

#include <fmt/format.h>

#include <utility>

#include "actors/access/node_identity.hpp"
#include "actors/link/node_requests.hpp"
#include "actors/nodes/node_rules.hpp"
#include "actors/usage/defaults.hpp"
#include "actors/usage/simulated_usage.hpp"
#include "api/schema/core_node.pb.h"
#include "api/scheme.hpp"
#include "runtime/actor_system.hpp"

namespace troupe::actors {

using api::core::v1::Node;

// Completes with its last reference: when all nodes have answered or timed out.
struct usage_collector::question {
  question(std::shared_ptr<std::size_t> counter, runtime::promise<nodes_usage> answer)
      : counter{std::move(counter)}, answer{std::move(answer)} {
    ++*this->counter;
  }
  question(const question&) = delete;
  question& operator=(const question&) = delete;
  ~question() {
    --*counter;
    answer.deliver({std::move(found)});
  }

  std::shared_ptr<std::size_t> counter;
  runtime::promise<nodes_usage> answer;
  usage_by_node found = {};
};

usage_collector::usage_collector(const persistence::store* store,
                                 std::shared_ptr<const link_table> table, runtime::actor_ref links,
                                 simulated::policy_ptr policy)
    : store_{store},
      table_{std::move(table)},
      links_{std::move(links)},
      policy_{std::move(policy)} {}

const runtime::behavior& usage_collector::make_behavior() const {
  static const auto table = runtime::handlers(&usage_collector::on_query_nodes);
  return table;
}

std::string usage_collector::describe() const {
  return fmt::format("questions: {}\nunderWay: {}\n", questions_, *under_way_);
}

void usage_collector::on_query_nodes(const query_nodes& m, runtime::promise<nodes_usage> answer) {
  if (*under_way_ >= usage_defaults::questions) return answer.deliver({});
  ++questions_;
  const auto asked = std::make_shared<question>(under_way_, std::move(answer));
  const auto state = store_->read();
  std::set<std::string> simulated;
  for (const auto& name : m.nodes) {
    const auto node = state.find(api::kind_of<Node>().key({}, name));
    if (!node) continue;
    if (const auto meter = system().actors().find(usage_meter_kind, name)) {
      ask(asked, name, meter, measure_usage{});
    } else if (has_joined(*node)) {
      if (table_->connected(name)) ask(asked, name, links_, ask_usage{name});
    } else if (is_simulated(node->as<Node>()) &&
               readiness_of(node->as<Node>()) == readiness::ready) {
      simulated.insert(name);
    }
  }
  if (!simulated.empty())
    asked->found.merge(simulated_usage(state, simulated, wall_now(), policy_.get()));
}

template <class M>
void usage_collector::ask(const std::shared_ptr<question>& of, const std::string& node,
                          const runtime::actor_ref& to, M message) {
  request<node_usage>(to, std::move(message), usage_defaults::node_wait,
                      [of, node](const auto& answered) {
                        if (answered && (*answered)->problem.empty()) of->found[node] = **answered;
                      });
}

}  // namespace troupe::actors
