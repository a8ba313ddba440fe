// The part of the gateway that answers requests of the control plane: logs and console views.
#include <spdlog/fmt/fmt.h>

#include <utility>

#include "actors/link/defaults.hpp"
#include "actors/link/log_streamer.hpp"
#include "actors/link/node_gateway.hpp"

namespace troupe::actors {

void node_gateway::take_open_log(const wire::OpenLog& m) {
  const auto refuse = [&](std::string reason) {
    send_log_part({.id = m.ask(), .text = {}, .ended = true, .problem = std::move(reason)});
  };
  if (!options_.logs) return refuse(fmt::format("node {} has no logs", options_.node));
  if (logs_.size() >= link_defaults::served_requests)
    return refuse(fmt::format("too many requests to node {}", options_.node));
  log_query query;
  query.timestamps = m.timestamps();
  query.since = m.since();
  if (m.has_tail_lines()) query.tail_lines = m.tail_lines();
  if (m.has_limit_bytes()) query.limit_bytes = m.limit_bytes();
  log_address from{m.pod_uid(), m.container(), m.container_id()};
  if (from.id.empty())  // from an older control plane, which identifies runs by attempt
    from.id = fmt::format("process://{}/{}/{}", from.pod_uid, from.container, m.attempt());
  log_request request{.id = m.ask(),
                      .from = std::move(from),
                      .query = std::move(query),
                      .follow = m.follow(),
                      .credit = m.credit()};
  logs_[m.ask()] =
      spawn({.kind = log_kind, .name = fmt::format("{}/{}", sessions_, m.ask()), .restart = false},
            runtime::make<log_streamer>(std::move(request), options_.logs, self()));
}

// Parts from streamers of a former session or incarnation are dropped: numbers are reused.
void node_gateway::on_log_part(const log_part& m) {
  const auto found = logs_.find(m.id);
  if (found == logs_.end() || !(found->second == sender())) return;
  send_log_part(m);
  if (m.ended) logs_.erase(found);
}

void node_gateway::send_log_part(const log_part& m) {
  wire::FromNode::Item item;
  auto& out = *item.mutable_log_part();
  out.set_ask(m.id);
  out.set_text(m.text);
  out.set_ended(m.ended);
  out.set_problem(m.problem);
  send_item(item);
}

// Stops streamers that outlived a crash of this actor, whose session ended with it.
void node_gateway::stop_former_streamers() {
  for (const auto* kind : {log_kind, stream_kind}) {
    std::vector<std::string> former;
    system().actors().each([&](const runtime::actor_info& info) {
      if (info.parent == self().id() && info.kind == kind) former.push_back(info.name);
    });
    for (const auto& name : former)
      if (const auto streamer = child(kind, name)) stop_child(streamer);
  }
}

void node_gateway::stop_streamers() {
  for (const auto& [ask, streamer] : std::exchange(logs_, {}))
    stop_child(streamer);
  stop_container_streams();
}

void node_gateway::take_console(const wire::AskConsole& m) {
  const auto request = m.ask();
  if (!options_.console) {
    return on_console_done(
        {inbox_, request, {404, fmt::format("node {} has no console", options_.node)}});
  }
  options_.console({.target = m.target(), .changes = m.changes(), .user = m.user()},
                   [to = self(), inbox = std::shared_ptr<const frame_inbox>{inbox_},
                    request](console_view view) {
                     to.tell(console_done{inbox, request, std::move(view)});
                   });
}

void node_gateway::on_console_done(const console_done& m) {
  if (m.inbox != inbox_) return;
  const auto answer = [&](const console_view& view) {
    wire::FromNode::Item item;
    auto& out = *item.mutable_console_answer();
    out.set_ask(m.request);
    out.set_status(view.status);
    out.set_body(view.body);
    if (view.total) out.set_total(*view.total);
    return send_item(item);
  };
  if (!answer(m.view)) answer({0, "the answer is larger than a frame of the link"});
}

}  // namespace troupe::actors
