#include "actors/link/node_gateway.hpp"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <utility>

#include "actors/access/node_identity.hpp"
#include "actors/core/log.hpp"
#include "actors/link/defaults.hpp"
#include "actors/link/frames.hpp"

namespace troupe::actors {

const runtime::behavior& node_gateway::make_behavior() const {
  static const auto table = runtime::handlers(
      &node_gateway::on_subscribe, &node_gateway::on_more, &node_gateway::on_bookmark_now,
      &node_gateway::on_unsubscribe, &node_gateway::on_commit, &node_gateway::on_evict,
      &node_gateway::on_remove, &node_gateway::on_record_event, &node_gateway::on_session_begun,
      &node_gateway::on_link_ended, &node_gateway::on_call_failed, &node_gateway::on_frame,
      &node_gateway::on_log_part, &node_gateway::on_console_done, &node_gateway::on_flush,
      &node_gateway::on_request_token, &node_gateway::on_stream_opened,
      &node_gateway::on_stream_output, &node_gateway::on_input_taken,
      &node_gateway::on_stream_ended, &node_gateway::on_child_ended);
  return table;
}

void node_gateway::started() {
  stop_former_streamers();
  round_ = every(link_defaults::round, [this] { round(); });
  sweep_ = every(link_defaults::sweep, [this] { sweep(); });
}

std::string node_gateway::describe() const {
  const auto stats = inbox_ ? inbox_->session()->stats() : runtime::link::session_stats{};
  return fmt::format(
      "node: {}\nlinked: {}\nsessions: {}\nstreams: {}\nrequestsUnderWay: {}\ncommits: {}\n"
      "lostCommits: {}\nevents: {}\nuntoldEvents: {}\nlogs: {}\ncontainerStreams: {}\n"
      "backlogBytes: {}\n"
      "frames: {{sent: {}, received: {}}}\nbytes: {{sent: {}, received: {}}}\n",
      options_.node, inbox_ != nullptr, sessions_, streams_.size(), pending_.size(), commits_,
      lost_, events_, unsent_.size(), logs_.size(), container_streams_.size(),
      out_ ? out_->backlog() : 0, stats.frames_sent, stats.frames_received, stats.bytes_sent,
      stats.bytes_received);
}

// -- from the kubelet -----------------------------------------------------------------------------

void node_gateway::on_subscribe(const subscribe& m) {
  const subscriber_key key{sender().id(), m.id};
  if (key.first == 0) return;
  forget(key);
  if (m.accept) {
    // A filter function cannot be sent over the link: all events would come.
    tell(sender(), watch_ended{m.id,
                               {persistence::errc::invalid,
                                "a filter cannot be applied on the other side of a link"}});
    return;
  }
  auto& s = streams_[key];
  s.subscriber = sender();
  s.subscription = m;
  s.last = m.after;
  s.synced = m.after != 0;
  s.credit = m.credit;
  request_stream(s);
}

void node_gateway::on_more(const more& m) {
  const auto found = streams_.find({sender().id(), m.id});
  if (found == streams_.end()) {
    tell(sender(), watch_ended{m.id,
                               {persistence::errc::closed,
                                fmt::format("the gateway has no stream {}: subscribe again from "
                                            "the last revision seen",
                                            m.id)}});
    return;
  }
  auto& s = found->second;
  s.credit += m.credit;
  if (m.credit == 0 || s.number == 0) return;
  wire::FromNode::Item item;
  item.mutable_more()->set_stream(s.number);
  item.mutable_more()->set_credit(m.credit);
  send_item(item);
}

void node_gateway::on_bookmark_now(const bookmark_now& m) {
  const auto found = streams_.find({sender().id(), m.id});
  if (found == streams_.end() || found->second.number == 0) return;
  wire::FromNode::Item item;
  item.mutable_bookmark_now()->set_stream(found->second.number);
  send_item(item);
}

void node_gateway::on_unsubscribe(const unsubscribe& m) {
  forget({sender().id(), m.id});
}

// Uses a new number each time, so that events under the old number are ignored.
void node_gateway::request_stream(remote_stream& s) {
  if (s.number != 0) by_number_.erase(s.number);
  s.number = 0;
  s.parts.clear();
  s.again_at = {};
  if (!inbox_) return;
  s.number = ++last_number_;
  by_number_[s.number] = {s.subscriber.id(), s.subscription.id};
  wire::FromNode::Item item;
  auto& out = *item.mutable_subscribe();
  out.set_stream(s.number);
  out.set_prefix(s.subscription.prefix);
  out.set_on_node(s.subscription.on_node);
  out.set_after(s.last);
  out.set_credit(static_cast<std::uint32_t>(std::max<std::int64_t>(s.credit, 0)));
  out.set_bookmarks(s.subscription.bookmarks);
  send_item(item);
}

void node_gateway::forget(const subscriber_key& key) {
  const auto found = streams_.find(key);
  if (found == streams_.end()) return;
  if (const auto number = found->second.number; number != 0) {
    by_number_.erase(number);
    wire::FromNode::Item item;
    item.mutable_unsubscribe()->set_stream(number);
    send_item(item);
  }
  streams_.erase(found);
}

node_gateway::remote_stream* node_gateway::find_number(std::uint64_t number) {
  const auto found = by_number_.find(number);
  return found == by_number_.end() ? nullptr : &streams_.at(found->second);
}

// -- the session ----------------------------------------------------------------------------------

void node_gateway::on_session_begun(const session_begun& m) {
  end_session("another connection took its place");
  inbox_ = m.inbox;
  out_.emplace(inbox_->session());
  ++sessions_;
  inbox_->attach(self());
  for (auto& [key, s] : streams_)
    request_stream(s);
  send_unsent_events();
  if (options_.linked) options_.linked();
}

void node_gateway::on_link_ended(const link_ended& m) {
  if (m.inbox == inbox_) lose(m.reason);
}

void node_gateway::on_call_failed(const call_failed& m) {
  if (!inbox_) lose(m.reason);
}

void node_gateway::lose(const std::string& reason) {
  end_session(reason);
  const auto& notify = is_removal_reason(reason) ? options_.node_removed : options_.unlinked;
  if (notify) notify(reason);
}

void node_gateway::end_session(const std::string& reason) {
  if (!inbox_) return;
  inbox_->session()->close(reason);
  inbox_ = nullptr;
  out_.reset();
  by_number_.clear();
  stop_streamers();
  fail_all(reason);
  std::vector<subscriber_key> ended;
  for (auto& [key, s] : streams_) {
    s.number = 0;
    s.parts.clear();
    s.again_at = {};
    if (s.begun && !s.synced) ended.push_back(key);
  }
  // The rest of the initial list is lost.
  for (const auto& key : ended) {
    const auto& s = streams_.at(key);
    tell(s.subscriber, watch_ended{s.subscription.id,
                                   {persistence::errc::closed, "the link was lost: " + reason}});
    streams_.erase(key);
  }
}

// -- from the control plane -----------------------------------------------------------------------

void node_gateway::on_frame(const frame_received& m) {
  if (m.inbox != inbox_) return;
  wire::ToNode frame;
  if (!frame.ParseFromString(m.delivery->bytes())) {
    log().error("link: the control plane sent a malformed frame");
    return lose("the frame is malformed");
  }
  for (const auto& item : frame.items()) {
    current_cause({item.request(), item.revision()});
    take(item);
    if (m.inbox != inbox_) return;
  }
}

void node_gateway::take(const wire::ToNode::Item& item) {
  switch (item.content_case()) {
    case wire::ToNode::Item::kWatchEvents:
      return take_events(item.watch_events());
    case wire::ToNode::Item::kWatchEnded:
      return take_ended(item.watch_ended());
    case wire::ToNode::Item::kCommitDone:
      return take_commit_done(item.commit_done());
    case wire::ToNode::Item::kCommandDone:
      return take_command_done(item.command_done());
    case wire::ToNode::Item::kTokenAnswer:
      return take_token_answer(item.token_answer());
    case wire::ToNode::Item::kOpenLog:
      return take_open_log(item.open_log());
    case wire::ToNode::Item::kMoreLog:
      if (const auto found = logs_.find(item.more_log().ask()); found != logs_.end())
        tell(found->second, more_log{item.more_log().ask(), item.more_log().credit()});
      return;
    case wire::ToNode::Item::kFinishLog:
      if (const auto found = logs_.find(item.finish_log().ask()); found != logs_.end())
        tell(found->second, finish_log{item.finish_log().ask()});
      return;
    case wire::ToNode::Item::kCloseLog:
      if (const auto found = logs_.find(item.close_log().ask()); found != logs_.end()) {
        stop_child(found->second);
        logs_.erase(found);
      }
      return;
    case wire::ToNode::Item::kAskConsole:
      return take_console(item.ask_console());
    case wire::ToNode::Item::kOpenStream:
    case wire::ToNode::Item::kStreamInput:
    case wire::ToNode::Item::kEndInput:
    case wire::ToNode::Item::kResizeStream:
    case wire::ToNode::Item::kMoreOutput:
    case wire::ToNode::Item::kCloseStream:
      return take_of_stream(item);
    case wire::ToNode::Item::kAskUsage:
      return take_ask_usage(item.ask_usage());
    case wire::ToNode::Item::kLeft:
      return lose(item.left().reason());
    case wire::ToNode::Item::CONTENT_NOT_SET:
      return;  // from a newer version
  }
}

void node_gateway::take_events(const wire::WatchEvents& m) {
  auto* s = find_number(m.stream());
  if (s == nullptr) return;  // unsubscribed meanwhile
  auto events = read_events(m);
  if (!events) {
    log().error("link: an event of {} is malformed: {}", s->subscription.prefix, events.error());
    return lose(events.error());
  }
  std::move(events->begin(), events->end(), std::back_inserter(s->parts));
  if (!m.unfinished()) deliver(*s, m);
}

void node_gateway::deliver(remote_stream& s, const wire::WatchEvents& last) {
  auto events = std::exchange(s.parts, {});
  const auto count = events.size();
  // If the mailbox does not accept it, the subscriber has ended or will find its stream gone.
  if (!tell(s.subscriber, watch_events{.id = s.subscription.id,
                                       .up_to = last.up_to(),
                                       .synced = last.synced(),
                                       .events = event_list{std::move(events)}}))
    return forget({s.subscriber.id(), s.subscription.id});
  events_ += count;
  s.credit -= static_cast<std::int64_t>(count);
  s.begun = true;
  s.synced = last.synced();
  s.last = std::max<revision>(s.last, last.up_to());
}

void node_gateway::take_ended(const wire::WatchEnded& m) {
  auto* s = find_number(m.stream());
  if (s == nullptr) return;
  by_number_.erase(m.stream());
  s->number = 0;
  s->parts.clear();
  if (m.refused()) {
    log().debug("link: {} cannot be followed now: {}", s->subscription.prefix,
                m.reason().message());
    s->again_at = now() + link_defaults::refused_again;
    return;
  }
  tell(s->subscriber, watch_ended{s->subscription.id, read_store_error(m.reason())});
  streams_.erase({s->subscriber.id(), s->subscription.id});
}

// -- timers ---------------------------------------------------------------------------------------

void node_gateway::round() {
  for (auto& [key, s] : streams_)
    if (s.again_at != runtime::time_point{} && s.again_at <= now()) request_stream(s);
  // In the order of the requests.
  while (!pending_.empty() && pending_.begin()->second.until <= now()) {
    auto& request = pending_.begin()->second;
    request.committed.fail(runtime::request_error::timeout);
    request.commanded.fail(runtime::request_error::timeout);
    request.granted.fail(runtime::request_error::timeout);
    pending_.erase(pending_.begin());
  }
}

void node_gateway::sweep() {
  std::vector<subscriber_key> dead;
  for (const auto& [key, s] : streams_)
    if (!system().actors().find(key.first)) dead.push_back(key);
  for (const auto& key : dead)
    forget(key);
}

// -- to the link ----------------------------------------------------------------------------------

// Items sent while messages are queued go in one frame: the flush is queued behind them.
bool node_gateway::send_item(wire::FromNode::Item& item) {
  if (!inbox_) return true;
  item.set_request(current_cause().request);
  item.set_revision(current_cause().revision);
  if (!out_->add(item)) return false;
  if (!flush_ordered_) flush_ordered_ = tell(self(), flush{});
  return true;
}

void node_gateway::on_flush(const flush&) {
  flush_ordered_ = false;
  if (!inbox_ || out_->flush()) return;
  if (out_->backlog() > link_defaults::backlog_limit_bytes)
    return lose("the control plane does not read from the link");
  flush_ordered_ = true;
  again_ = after(link_defaults::backlog_round, [this] { on_flush({}); });
}

// -- from outside ---------------------------------------------------------------------------------

runtime::actor_ref spawn_gateway(runtime::actor_system& system, gateway_options options) {
  const auto name = options.name.empty() ? options.node : options.name;
  return system.spawn({.kind = "gateway", .name = name},
                      runtime::make<node_gateway>(std::move(options)));
}

runtime::link::acceptor gateway_acceptor(runtime::actor_ref gateway) {
  return [to = std::move(gateway)](const runtime::link::session_ptr& session)
             -> tl::expected<std::shared_ptr<runtime::link::receiver>, std::string> {
    const auto made = std::make_shared<frame_inbox>(session);
    auto receiver = made->receiver();
    if (!to.tell(session_begun{made}))
      return tl::make_unexpected(std::string{"the node is ending"});
    return receiver;
  };
}

}  // namespace troupe::actors
