// The part of the session that sends the control plane's requests to the node.
#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <utility>

#include "actors/link/defaults.hpp"
#include "actors/link/frames.hpp"
#include "actors/link/node_session.hpp"
#include "runtime/actor_system.hpp"

namespace troupe::actors {

// -- logs -----------------------------------------------------------------------------------------

void node_session::on_open_log(const open_log& m) {
  if (logs_.size() + console_requests_.size() >= link_defaults::served_requests) {
    tell(m.reader, log_part{.id = m.id,
                            .text = {},
                            .ended = true,
                            .problem = fmt::format("too many requests to node {}", node_)});
    return;
  }
  const auto request = ++last_request_;
  logs_[request] = {m.reader, m.id, m.credit};
  wire::ToNode::Item item;
  auto& out = *item.mutable_open_log();
  out.set_ask(request);
  out.set_pod_uid(m.from.pod_uid);
  out.set_container(m.from.container);
  out.set_container_id(m.from.id);
  // For an older node, which identifies runs by attempt: the last part of the id.
  out.set_attempt(std::atoi(m.from.id.substr(m.from.id.rfind('/') + 1).c_str()));
  out.set_timestamps(m.query.timestamps);
  if (m.query.tail_lines) out.set_tail_lines(*m.query.tail_lines);
  out.set_since(m.query.since);
  if (m.query.limit_bytes) out.set_limit_bytes(*m.query.limit_bytes);
  out.set_follow(m.follow);
  out.set_credit(m.credit);
  send_item(item);
}

std::uint64_t node_session::log_of(std::uint64_t id) const {
  const auto reader = sender();
  const auto found = std::find_if(logs_.begin(), logs_.end(), [&](const auto& entry) {
    return entry.second.id == id && entry.second.reader == reader;
  });
  return found == logs_.end() ? 0 : found->first;
}

void node_session::on_more_log(const more_log& m) {
  const auto request = log_of(m.id);
  if (request == 0) return;
  logs_.at(request).credit += m.credit;
  wire::ToNode::Item item;
  item.mutable_more_log()->set_ask(request);
  item.mutable_more_log()->set_credit(m.credit);
  send_item(item);
}

void node_session::on_finish_log(const finish_log& m) {
  const auto request = log_of(m.id);
  if (request == 0) return;
  wire::ToNode::Item item;
  item.mutable_finish_log()->set_ask(request);
  send_item(item);
}

void node_session::on_close_log(const close_log& m) {
  const auto request = log_of(m.id);
  if (request == 0) return;
  logs_.erase(request);
  wire::ToNode::Item item;
  item.mutable_close_log()->set_ask(request);
  send_item(item);
}

void node_session::on_log_part(const wire::LogPart& m) {
  const auto found = logs_.find(m.ask());
  if (found == logs_.end()) return;
  if (!m.text().empty() && --found->second.credit < 0)
    return leave("the node sends more of a log than was asked for");
  const auto log = found->second;
  if (m.ended()) logs_.erase(found);
  tell(log.reader,
       log_part{.id = log.id, .text = m.text(), .ended = m.ended(), .problem = m.problem()});
}

void node_session::forget_dead_readers() {
  std::vector<std::uint64_t> dead;
  for (const auto& [request, log] : logs_)
    if (!system().actors().find(log.reader.id())) dead.push_back(request);
  for (const auto request : dead) {
    logs_.erase(request);
    wire::ToNode::Item item;
    item.mutable_close_log()->set_ask(request);
    send_item(item);
  }
  std::erase_if(console_requests_,
                [this](const auto& entry) { return entry.second.until < now(); });
}

// -- the console ----------------------------------------------------------------------------------

void node_session::on_node_console_request(const node_console_request& m) {
  if (logs_.size() + console_requests_.size() >= link_defaults::served_requests)
    return m.answer->deliver({0, fmt::format("too many requests to node {}", node_)});
  const auto request = ++last_request_;
  console_requests_[request] = {m.answer, now() + link_defaults::request_limit};
  wire::ToNode::Item item;
  auto& out = *item.mutable_ask_console();
  out.set_ask(request);
  out.set_target(m.request.request.target);
  out.set_changes(m.request.request.changes);
  out.set_user(m.request.request.user);
  send_item(item);
}

void node_session::on_console_answer(const wire::ConsoleAnswer& m) {
  const auto found = console_requests_.find(m.ask());
  if (found == console_requests_.end()) return;
  found->second.answer->deliver(read_console_answer(m));
  console_requests_.erase(found);
}

// -- streams into containers ----------------------------------------------------------------------

void node_session::on_node_stream_request(const node_stream_request& m) {
  container_streams_.open(m, now());
  if (!stream_check_.pending()) check_stream_timeouts();
}

void node_session::on_stream_work(const stream_work& m) {
  container_streams_.take(m);
  pump_streams();
}

void node_session::pump_streams() {
  if (container_streams_.pump(out_) || stream_turn_.pending()) return;
  stream_turn_ = after(link_defaults::backlog_round, [this] { pump_streams(); });
}

// Repeats while there are streams.
void node_session::check_stream_timeouts() {
  container_streams_.check_timeouts(now());
  pump_streams();
  if (container_streams_.size() == 0) return;
  stream_check_ = after(link_defaults::round, [this] { check_stream_timeouts(); });
}

// -- the end --------------------------------------------------------------------------------------

// Called from the destructor too, so without a sender.
void node_session::end_requests(const std::string& reason) {
  for (const auto& [id, request] : std::exchange(logs_, {}))
    request.reader.tell(log_part{.id = request.id, .text = {}, .ended = true, .problem = reason});
  for (const auto& [id, request] : std::exchange(console_requests_, {}))
    request.answer->deliver({0, reason});
  container_streams_.end(reason);
}

}  // namespace troupe::actors
