// The part of the gateway for streams into this node's containers, opened by the control plane.
#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <utility>

#include "actors/link/container_streamer.hpp"
#include "actors/link/defaults.hpp"
#include "actors/link/node_gateway.hpp"
#include "actors/link/stream_frames.hpp"

namespace troupe::actors {

// -- from the control plane -----------------------------------------------------------------------

void node_gateway::take_open_stream(const wire::OpenStream& m) {
  const auto refuse = [&](runtime_error::kind code, const std::string& reason) {
    wire::FromNode::Item item;
    item.mutable_stream_opened()->set_ask(m.ask());
    write_refusal(*item.mutable_stream_opened()->mutable_refusal(), {code, reason});
    send_item(item);
  };
  if (container_streams_.contains(m.ask())) return lose("the control plane opens a stream twice");
  if (!options_.streams)
    return refuse(runtime_error::kind::unsupported,
                  fmt::format("node {} has no containers that can be reached", options_.node));
  if (container_streams_.size() >= link_defaults::container_streams)
    return refuse(runtime_error::kind::refused,
                  fmt::format("node {} has {} streams into its containers: try again",
                              options_.node, container_streams_.size()));
  auto target = read_open_stream(m);
  if (!target) return refuse(runtime_error::kind::failed, target.error());
  const auto streamer = spawn(
      {.kind = stream_kind, .name = fmt::format("{}/{}", sessions_, m.ask()), .restart = false},
      runtime::make<container_streamer>(m.ask(), std::move(*target), m.credit(), options_.streams,
                                        self()));
  container_streams_[m.ask()] = {streamer, link_defaults::stream_window_bytes};
}

void node_gateway::take_stream_input(const wire::StreamInput& m) {
  const auto found = container_streams_.find(m.ask());
  if (found == container_streams_.end()) return;
  auto& stream = found->second;
  if (m.text().size() > stream.room)
    return lose("the control plane sends more input of a stream than it has credit for");
  stream.room -= m.text().size();
  const auto streamer = stream.streamer;
  if (pass_to_stream(m) || !system().actors().find(streamer.id())) return;
  stop_child(streamer);
  fail_stream(m.ask(), "its input queue is full");
}

// Returns false if the streamer has ended or its mailbox is full.
template <class Item>
bool node_gateway::pass_to_stream(const Item& m) {
  const auto found = container_streams_.find(m.ask());
  return found != container_streams_.end() && tell(found->second.streamer, m);
}

void node_gateway::take_close_stream(const wire::CloseStream& m) {
  const auto found = container_streams_.find(m.ask());
  if (found == container_streams_.end()) return;
  stop_child(found->second.streamer);
  container_streams_.erase(found);
}

void node_gateway::take_of_stream(const wire::ToNode::Item& item) {
  switch (item.content_case()) {
    case wire::ToNode::Item::kOpenStream:
      return take_open_stream(item.open_stream());
    case wire::ToNode::Item::kStreamInput:
      return take_stream_input(item.stream_input());
    case wire::ToNode::Item::kEndInput:
      return void(pass_to_stream(item.end_input()));
    case wire::ToNode::Item::kResizeStream:
      return void(pass_to_stream(item.resize_stream()));
    case wire::ToNode::Item::kMoreOutput:
      return void(pass_to_stream(item.more_output()));
    case wire::ToNode::Item::kCloseStream:
      return take_close_stream(item.close_stream());
    default:
      return;
  }
}

// -- from the streams -----------------------------------------------------------------------------

// Returns null for a message of a former stream, whose number may be used by another one.
node_gateway::served_stream* node_gateway::stream_of_sender(std::uint64_t ask) {
  const auto found = container_streams_.find(ask);
  if (found == container_streams_.end() || !(found->second.streamer == sender())) return nullptr;
  return &found->second;
}

void node_gateway::on_stream_opened(const wire::StreamOpened& m) {
  if (stream_of_sender(m.ask()) == nullptr) return;
  wire::FromNode::Item item;
  *item.mutable_stream_opened() = m;
  send_item(item);
  if (m.has_refusal()) container_streams_.erase(m.ask());
}

void node_gateway::on_input_taken(const wire::InputTaken& m) {
  auto* stream = stream_of_sender(m.ask());
  if (stream == nullptr) return;
  stream->room += m.bytes();
  wire::FromNode::Item item;
  *item.mutable_input_taken() = m;
  send_item(item);
}

void node_gateway::on_stream_ended(const wire::StreamEnded& m) {
  if (stream_of_sender(m.ask()) != nullptr) send_stream_ended(m);
}

void node_gateway::on_stream_output(const wire::StreamOutput& m) {
  if (stream_of_sender(m.ask()) == nullptr) return;
  outputs_.push_back({sender(), m});
  pump_outputs();
}

// At most one piece of each stream is queued, in the order of arrival.
void node_gateway::pump_outputs() {
  while (!outputs_.empty() && out_->has_room_for_streams()) {
    auto [streamer, piece] = std::move(outputs_.front());
    outputs_.pop_front();
    const auto found = container_streams_.find(piece.ask());
    if (found == container_streams_.end() || !(found->second.streamer == streamer)) continue;
    wire::FromNode::Item item;
    *item.mutable_stream_output() = std::move(piece);
    send_item(item);
    tell(streamer, output_sent{});
  }
  if (outputs_.empty() || outputs_again_.pending()) return;
  outputs_again_ = after(link_defaults::backlog_round, [this] { pump_outputs(); });
}

// -- their end ------------------------------------------------------------------------------------

void node_gateway::send_stream_ended(const wire::StreamEnded& m) {
  container_streams_.erase(m.ask());
  wire::FromNode::Item item;
  *item.mutable_stream_ended() = m;
  send_item(item);
}

// A streamer that ends normally has sent StreamEnded before.
void node_gateway::on_child_ended(const runtime::child_ended& m) {
  const auto found =
      std::find_if(container_streams_.begin(), container_streams_.end(),
                   [&](const auto& entry) { return entry.second.streamer == m.child; });
  if (found != container_streams_.end()) fail_stream(found->first, "it has failed");
}

void node_gateway::fail_stream(std::uint64_t ask, const std::string& reason) {
  wire::StreamEnded ended;
  ended.set_ask(ask);
  ended.set_code(link_defaults::lost_stream_code);
  ended.set_problem(fmt::format("the stream at node {} was lost: {}", options_.node, reason));
  send_stream_ended(ended);
}

void node_gateway::stop_container_streams() {
  outputs_.clear();
  outputs_again_.cancel();
  for (const auto& [ask, stream] : std::exchange(container_streams_, {}))
    stop_child(stream.streamer);
}

}  // namespace troupe::actors
