#include "actors/link/session_streams.hpp"

#include <spdlog/fmt/fmt.h>

#include <chrono>
#include <utility>
#include <vector>

#include "actors/link/defaults.hpp"
#include "actors/link/stream_frames.hpp"

namespace troupe::actors {

namespace {

tl::unexpected<std::string> wrong(std::string reason) {
  return tl::make_unexpected(std::move(reason));
}

}  // namespace

void session_streams::refuse(runtime::promise<stream_opened>& answer, runtime_error error) {
  answer.deliver({tl::make_unexpected(std::move(error))});
}

void session_streams::open(const node_stream_request& m, runtime::time_point now) {
  if (streams_.size() >= link_defaults::container_streams)
    return refuse(*m.answer, {runtime_error::kind::refused,
                              fmt::format("node {} has {} streams into its containers: try again",
                                          node_, streams_.size())});
  const auto ask = ++last_ask_;
  streams_[ask] = {.stream = std::make_shared<linked_stream>(ask, session_),
                   .answer = m.answer,
                   .until = now + link_defaults::stream_open_wait};
  wire::ToNode::Item item;
  write_open_stream(*item.mutable_open_stream(), ask, m.request.target);
  send_(item);
}

// -- from the node --------------------------------------------------------------------------------

readable<void> session_streams::take(const wire::StreamOpened& m) {
  const auto found = streams_.find(m.ask());
  if (found == streams_.end()) return {};  // its request has timed out
  auto& opened = found->second;
  if (!opened.answer) return wrong("the node opens a stream twice");
  const auto answer = std::exchange(opened.answer, nullptr);
  if (m.has_refusal()) {
    streams_.erase(found);
    refuse(*answer, read_refusal(m.refusal()));
    return {};
  }
  opened.stream->opened(m.credit());
  answer->deliver({std::make_shared<linked_end>(opened.stream)});
  return {};
}

readable<void> session_streams::take(const wire::StreamOutput& m) {
  const auto found = streams_.find(m.ask());
  if (found == streams_.end()) return {};
  const auto from = m.error() ? exec_part::kind::error : exec_part::kind::output;
  if (found->second.answer) return wrong("the node sends of a stream that it has not opened");
  if (!found->second.stream->output(from, m.text()))
    return wrong("the node sends more of a stream than it has credit for");
  return {};
}

readable<void> session_streams::take(const wire::InputTaken& m) {
  const auto found = streams_.find(m.ask());
  if (found == streams_.end()) return {};
  if (!found->second.stream->input_taken(m.bytes(), m.refused()))
    return wrong("the node takes more input of a stream than it was sent");
  return {};
}

void session_streams::take(const wire::StreamEnded& m) {
  const auto found = streams_.find(m.ask());
  if (found == streams_.end()) return;
  const auto ended = std::move(found->second);
  streams_.erase(found);
  const auto problem = short_text(m.problem());
  if (ended.answer) return refuse(*ended.answer, {runtime_error::kind::failed, problem});
  ended.stream->end(m.code(), problem);
}

// -- to the node ----------------------------------------------------------------------------------

void session_streams::take(const stream_work& m) {
  add_turn(m.ask);
}

void session_streams::add_turn(std::uint64_t ask) {
  const auto found = streams_.find(ask);
  if (found == streams_.end() || std::exchange(found->second.in_turns, true)) return;
  turns_.push_back(ask);
}

bool session_streams::pump(const frame_sender& out) {
  while (!turns_.empty()) {
    if (!out.has_room_for_streams()) return false;
    const auto found = streams_.find(turns_.front());
    turns_.pop_front();
    if (found != streams_.end()) send_commands(found);
  }
  return true;
}

void session_streams::send_commands(table::iterator at) {
  const auto ask = at->first;
  const auto stream = at->second.stream;
  at->second.in_turns = false;
  const auto commands = stream->take_commands();
  if (commands.close) {
    streams_.erase(at);
    return send_close(ask);
  }
  wire::ToNode::Item item;
  if (!commands.input.empty()) {
    item.mutable_stream_input()->set_ask(ask);
    item.mutable_stream_input()->set_text(commands.input);
    send_(item);
  }
  if (commands.size) {
    item.mutable_resize_stream()->set_ask(ask);
    item.mutable_resize_stream()->set_rows(static_cast<std::uint32_t>(commands.size->rows));
    item.mutable_resize_stream()->set_columns(static_cast<std::uint32_t>(commands.size->columns));
    send_(item);
  }
  if (commands.credit != 0) {
    item.mutable_more_output()->set_ask(ask);
    item.mutable_more_output()->set_credit(commands.credit);
    send_(item);
  }
  if (commands.end_input) {
    item.mutable_end_input()->set_ask(ask);
    send_(item);
  }
  if (stream->has_commands()) add_turn(ask);
}

void session_streams::send_close(std::uint64_t ask) {
  wire::ToNode::Item item;
  item.mutable_close_stream()->set_ask(ask);
  send_(item);
}

void session_streams::check_timeouts(runtime::time_point now) {
  std::vector<std::uint64_t> late;
  for (const auto& [ask, each] : streams_) {
    if (each.answer && each.until <= now) late.push_back(ask);
    if (!each.answer && each.stream->has_commands()) add_turn(ask);
  }
  for (const auto ask : late) {
    // The requester has timed out as well.
    streams_.at(ask).answer->fail(runtime::request_error::timeout);
    streams_.erase(ask);
    send_close(ask);
  }
}

void session_streams::end(const std::string& reason) {
  turns_.clear();
  // Pending requests fail because their promise is destroyed.
  for (const auto& [ask, each] : std::exchange(streams_, {}))
    each.stream->end(link_defaults::lost_stream_code, reason);
}

}  // namespace troupe::actors
