// The part of the gateway that reports the usage of this node and its containers.
#include <spdlog/fmt/fmt.h>

#include "actors/link/defaults.hpp"
#include "actors/link/node_gateway.hpp"
#include "actors/link/usage_frames.hpp"

namespace troupe::actors {

void node_gateway::take_ask_usage(const wire::AskUsage& m) {
  const auto send = [this, ask = m.ask(),
                     inbox = std::shared_ptr<const frame_inbox>{inbox_}](const node_usage& usage) {
    if (inbox != inbox_) return;  // the new session has other numbers
    wire::FromNode::Item item;
    write_usage_answer(*item.mutable_usage_answer(), ask, usage);
    if (send_item(item)) return;
    item.Clear();
    write_usage_answer(*item.mutable_usage_answer(), ask,
                       {.problem = "the answer is larger than a frame of the link"});
    send_item(item);
  };
  const auto meter = system().actors().find(usage_meter_kind, options_.node);
  if (!meter) return send({.problem = fmt::format("node {} measures nothing", options_.node)});
  request<node_usage>(meter, measure_usage{}, link_defaults::usage_wait, [send](const auto& usage) {
    if (usage) return send(**usage);
    send({.problem = "the node could not be measured in time"});
  });
}

}  // namespace troupe::actors
