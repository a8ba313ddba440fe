// What the control plane asks of a node.
#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <utility>

#include "actors/link/defaults.hpp"
#include "actors/link/frames.hpp"
#include "actors/link/node_session.hpp"
#include "runtime/system.hpp"

namespace troupe::actors {

// -- logs -----------------------------------------------------------------------------------------

void node_session::on_open_log(const open_log& m) {
  if (logs_.size() + questions_.size() >= link_defaults::asks_under_way) {
    tell(m.reader, log_part{.id = m.id,
                            .text = {},
                            .ended = true,
                            .problem = fmt::format("too much is asked of node {}", node_)});
    return;
  }
  const auto ask = ++last_ask_;
  logs_[ask] = {m.reader, m.id, m.credit};
  wire::ToNode::Item item;
  auto& out = *item.mutable_open_log();
  out.set_ask(ask);
  out.set_pod_uid(m.pod_uid);
  out.set_container(m.container);
  out.set_attempt(m.attempt);
  out.set_timestamps(m.query.timestamps);
  if (m.query.tail_lines) out.set_tail_lines(*m.query.tail_lines);
  out.set_since(m.query.since);
  if (m.query.limit_bytes) out.set_limit_bytes(*m.query.limit_bytes);
  out.set_follow(m.follow);
  out.set_credit(m.credit);
  say(item);
}

std::uint64_t node_session::ask_of(std::uint64_t id) const {
  const auto who = sender();
  const auto found = std::find_if(logs_.begin(), logs_.end(), [&](const auto& entry) {
    return entry.second.id == id && entry.second.reader == who;
  });
  return found == logs_.end() ? 0 : found->first;
}

void node_session::on_more_log(const more_log& m) {
  const auto ask = ask_of(m.id);
  if (ask == 0) return;
  logs_.at(ask).credit += m.credit;
  wire::ToNode::Item item;
  item.mutable_more_log()->set_ask(ask);
  item.mutable_more_log()->set_credit(m.credit);
  say(item);
}

void node_session::on_finish_log(const finish_log& m) {
  const auto ask = ask_of(m.id);
  if (ask == 0) return;
  wire::ToNode::Item item;
  item.mutable_finish_log()->set_ask(ask);
  say(item);
}

void node_session::on_close_log(const close_log& m) {
  const auto ask = ask_of(m.id);
  if (ask == 0) return;
  logs_.erase(ask);
  wire::ToNode::Item item;
  item.mutable_close_log()->set_ask(ask);
  say(item);
}

void node_session::on_log_part(const wire::LogPart& m) {
  const auto found = logs_.find(m.ask());
  if (found == logs_.end()) return;
  if (!m.text().empty() && --found->second.credit < 0)
    return leave("the node sends more of a log than was asked for");
  const auto asked = found->second;
  if (m.ended()) logs_.erase(found);
  tell(asked.reader,
       log_part{.id = asked.id, .text = m.text(), .ended = m.ended(), .problem = m.problem()});
}

void node_session::forget_dead_readers() {
  std::vector<std::uint64_t> dead;
  for (const auto& [ask, asked] : logs_)
    if (!home().actors().find(asked.reader.id())) dead.push_back(ask);
  for (const auto ask : dead) {
    logs_.erase(ask);
    wire::ToNode::Item item;
    item.mutable_close_log()->set_ask(ask);
    say(item);
  }
  std::erase_if(questions_, [this](const auto& entry) { return entry.second.until < now(); });
}

// -- the console ----------------------------------------------------------------------------------

void node_session::on_node_question(const node_question& m) {
  if (logs_.size() + questions_.size() >= link_defaults::asks_under_way)
    return m.answer->deliver({0, fmt::format("too much is asked of node {}", node_)});
  const auto ask = ++last_ask_;
  questions_[ask] = {m.answer, now() + link_defaults::request_limit};
  wire::ToNode::Item item;
  auto& out = *item.mutable_ask_console();
  out.set_ask(ask);
  out.set_target(m.what.what.target);
  out.set_changes(m.what.what.changes);
  out.set_user(m.what.what.user);
  say(item);
}

void node_session::on_console_answer(const wire::ConsoleAnswer& m) {
  const auto found = questions_.find(m.ask());
  if (found == questions_.end()) return;
  found->second.answer->deliver(read_console_answer(m));
  questions_.erase(found);
}

// Also from the destructor: told as from outside.
void node_session::end_asks(const std::string& why) {
  for (const auto& [ask, asked] : std::exchange(logs_, {}))
    asked.reader.tell(log_part{.id = asked.id, .text = {}, .ended = true, .problem = why});
  for (const auto& [ask, asked] : std::exchange(questions_, {}))
    asked.answer->deliver({0, why});
}

}  // namespace troupe::actors
