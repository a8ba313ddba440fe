// The part of the session that asks the node for its usage.
#include <spdlog/fmt/fmt.h>

#include <utility>

#include "actors/link/defaults.hpp"
#include "actors/link/node_session.hpp"
#include "actors/link/usage_frames.hpp"

namespace troupe::actors {

void node_session::on_node_usage_request(const node_usage_request& m) {
  if (usage_requests_.size() >= link_defaults::served_requests)
    return m.answer->deliver({.problem = fmt::format("too many requests to node {}", node_)});
  const auto request = ++last_request_;
  usage_requests_[request] = {m.answer, now() + link_defaults::request_limit};
  wire::ToNode::Item item;
  item.mutable_ask_usage()->set_ask(request);
  send_item(item);
}

void node_session::on_usage_answer(const wire::UsageAnswer& m) {
  const auto found = usage_requests_.find(m.ask());
  if (found == usage_requests_.end()) return;
  found->second.answer->deliver(read_usage_answer(m));
  usage_requests_.erase(found);
}

// Drops requests to a node that is too old to answer them.
void node_session::forget_late_usage() {
  std::erase_if(usage_requests_, [this](const auto& entry) { return entry.second.until < now(); });
}

// Called from the destructor too, so without a sender.
void node_session::end_usage_requests(const std::string& reason) {
  for (const auto& [id, request] : std::exchange(usage_requests_, {}))
    request.answer->deliver({.problem = reason});
}

}  // namespace troupe::actors
