#include "actors/link/node_session.hpp"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <utility>

#include "actors/access/node_identity.hpp"
#include "actors/core/log.hpp"
#include "actors/core/store_error.hpp"
#include "actors/link/defaults.hpp"
#include "actors/link/frames.hpp"
#include "actors/link/node_links.hpp"
#include "actors/tokens/node_token.hpp"
#include "actors/write/creation.hpp"
#include "api/schema/coordination_v1.pb.h"
#include "api/schema/core_node.pb.h"
#include "api/schema/core_pod.pb.h"
#include "api/scheme.hpp"
#include "api/values/utf8.hpp"

namespace troupe::actors {

using api::coordination::v1::Lease;
using api::core::v1::Node;
using api::core::v1::Pod;

namespace {

// The watcher identifies streams by subscriber and number; `informer` counts from 1.
constexpr std::uint64_t first_number = std::uint64_t{1} << 63;

// Limits of an event's fields (kubernetes: validation of events).
constexpr std::size_t event_reason_chars = 128;
constexpr std::size_t event_message_bytes = 1024;

std::string cut(std::string text, std::size_t limit) {
  text.resize(api::utf8_prefix(text, limit));
  return text;
}

// The pods with the fields that other nodes may see.
watch_events reduced(const watch_events& m) {
  std::vector<watch_event> events{m.events.begin(), m.events.end()};
  for (auto& event : events) {
    if (event.object) event.object = shown_for_policies(*event.object);
    event.previous = nullptr;
  }
  auto out = m;
  out.events = event_list{std::move(events)};
  return out;
}

}  // namespace

node_session::node_session(std::string node, std::shared_ptr<frame_inbox> inbox,
                           node_session_context context)
    : informer{context.core.watcher},
      node_{std::move(node)},
      inbox_{std::move(inbox)},
      context_{std::move(context)},
      out_{inbox_->session()},
      container_streams_{node_, self(), [this](auto& item) { send_item(item); }} {}

node_session::~node_session() {
  end_requests(fmt::format("the link to node {} was lost", node_));
  end_usage_requests(fmt::format("the link to node {} was lost", node_));
  context_.table->remove(node_, inbox_->session());
  inbox_->session()->close("the session of the node has ended: call again");
}

const runtime::behavior& node_session::make_behavior() const {
  static const auto table = runtime::handlers(
      &node_session::on_frame, &node_session::on_link_ended, &node_session::on_watch,
      &node_session::on_watch_end, &node_session::on_flush, &node_session::on_open_log,
      &node_session::on_more_log, &node_session::on_finish_log, &node_session::on_close_log,
      &node_session::on_node_console_request, &node_session::on_node_stream_request,
      &node_session::on_stream_work, &node_session::on_node_usage_request);
  return table;
}

void node_session::started() {
  context_.table->put(node_, inbox_->session());
  follow(api::kind_of<Node>().key({}, node_), [this](const watch_events& m) { on_node(m); });
  follow(api::kind_of<Pod>().prefix(), [this](const watch_events& m) { on_pods(m); },
         {.on_node = node_});
  sweep_ = every(link_defaults::sweep, [this] {
    forget_dead_readers();
    forget_late_usage();
  });
  log().info("link: node {} is connected from {}", node_, inbox_->session()->other().address);
  inbox_->attach(self());
}

std::string node_session::describe() const {
  const auto stats = inbox_->session()->stats();
  return fmt::format(
      "node: {}\naddress: {}\nstreams: {}\nrequestsUnderWay: {}\ncommits: {}\nrefused: {}\n"
      "events: {}\nlogs: {}\ncontainerStreams: {}\nbacklogBytes: {}\noutboxBytes: {}\nwindowBytes: "
      "{}\n"
      "frames: {{sent: {}, received: {}}}\nbytes: {{sent: {}, received: {}}}\n",
      node_, inbox_->session()->other().address, streams_.size(), under_way_, commits_, refused_,
      events_, logs_.size(), container_streams_.size(), out_.backlog(), stats.outbox_bytes,
      stats.window_bytes, stats.frames_sent, stats.frames_received, stats.bytes_sent,
      stats.bytes_received);
}

// -- from the link --------------------------------------------------------------------------------

void node_session::on_frame(const frame_received& m) {
  wire::FromNode frame;
  if (!frame.ParseFromString(m.delivery->bytes()))
    return leave("the frame is malformed: are the versions of both ends too far apart?");
  for (const auto& item : frame.items()) {
    current_cause({item.request(), item.revision()});
    take(item);
  }
}

void node_session::on_link_ended(const link_ended& m) {
  log().info("link: node {} is disconnected: {}", node_, m.reason);
  stop();
}

template <class Item>
void node_session::take_of_stream(const Item& m) {
  if (const auto taken = container_streams_.take(m); !taken) leave(taken.error());
}

void node_session::take(const wire::FromNode::Item& item) {
  switch (item.content_case()) {
    case wire::FromNode::Item::kSubscribe:
      return on_subscribe(item.subscribe());
    case wire::FromNode::Item::kMore:
      return on_more(item.more());
    case wire::FromNode::Item::kBookmarkNow:
      return on_bookmark_now(item.bookmark_now());
    case wire::FromNode::Item::kUnsubscribe:
      return on_unsubscribe(item.unsubscribe());
    case wire::FromNode::Item::kCommit:
      return on_commit(item.commit());
    case wire::FromNode::Item::kEvict:
      return on_evict(item.evict());
    case wire::FromNode::Item::kRemove:
      return on_remove(item.remove());
    case wire::FromNode::Item::kRecordEvent:
      return on_record_event(item.record_event());
    case wire::FromNode::Item::kRequestToken:
      return on_request_token(item.request_token());
    case wire::FromNode::Item::kLogPart:
      return on_log_part(item.log_part());
    case wire::FromNode::Item::kConsoleAnswer:
      return on_console_answer(item.console_answer());
    case wire::FromNode::Item::kStreamOpened:
      return take_of_stream(item.stream_opened());
    case wire::FromNode::Item::kStreamOutput:
      return take_of_stream(item.stream_output());
    case wire::FromNode::Item::kInputTaken:
      return take_of_stream(item.input_taken());
    case wire::FromNode::Item::kStreamEnded:
      return container_streams_.take(item.stream_ended());
    case wire::FromNode::Item::kUsageAnswer:
      return on_usage_answer(item.usage_answer());
    case wire::FromNode::Item::CONTENT_NOT_SET:
      return;  // from a newer version
  }
}

// -- the node's streams ---------------------------------------------------------------------------

void node_session::on_subscribe(const wire::Subscribe& m) {
  if (const auto size = m.prefix().size() + m.on_node().size();
      size > link_defaults::key_limit_bytes)
    return leave(fmt::format("node {} asks for a key of {} bytes", node_, size));
  if (streams_.size() + early_.size() >= link_defaults::streams)
    return leave(fmt::format("node {} has more than {} streams", node_, link_defaults::streams));
  if (!pods_known_) {
    early_.push_back(m);
    return;
  }
  const auto allowed = may_follow(node_, m.prefix(), m.on_node(),
                                  [this](const std::string& key) { return references_.used(key); });
  if (!allowed) {
    ++refused_;
    return end_stream(m.stream(), {persistence::errc::invalid, allowed.error()}, true);
  }
  on_unsubscribe([&] {
    wire::Unsubscribe old;
    old.set_stream(m.stream());
    return old;
  }());
  auto& s = streams_[m.stream()];
  s.subscription = m;
  s.last = m.after();
  s.synced = m.after() != 0;
  s.credit = std::min<std::int64_t>(m.credit(), link_defaults::stream_credit);
  subscribe_again(s);
}

void node_session::subscribe_again(node_stream& s) {
  stream_of_.erase(s.number);
  s.number = first_number + ++last_number_;
  stream_of_[s.number] = s.subscription.stream();
  const bool taken =
      tell(context_.core.watcher,
           subscribe{.id = s.number,
                     .prefix = s.subscription.prefix(),
                     .on_node = s.subscription.on_node(),
                     .after = s.last,
                     .credit = static_cast<std::uint32_t>(std::max<std::int64_t>(s.credit, 0)),
                     .bookmarks = s.subscription.bookmarks()});
  if (!taken) schedule_check();
}

void node_session::on_more(const wire::More& m) {
  const auto found = streams_.find(m.stream());
  if (found == streams_.end()) return;
  auto& s = found->second;
  const auto given = std::min<std::int64_t>(m.credit(), link_defaults::stream_credit - s.credit);
  if (given <= 0) return;
  s.credit += given;
  tell(context_.core.watcher, more{s.number, static_cast<std::uint32_t>(given)});
}

void node_session::on_bookmark_now(const wire::BookmarkNow& m) {
  const auto found = streams_.find(m.stream());
  if (found != streams_.end()) tell(context_.core.watcher, bookmark_now{found->second.number});
}

void node_session::on_unsubscribe(const wire::Unsubscribe& m) {
  std::erase_if(early_, [&](const auto& each) { return each.stream() == m.stream(); });
  const auto found = streams_.find(m.stream());
  if (found == streams_.end()) return;
  tell(context_.core.watcher, unsubscribe{found->second.number});
  stream_of_.erase(found->second.number);
  streams_.erase(found);
}

void node_session::end_stream(std::uint64_t stream, const persistence::error& error,
                              bool is_refusal) {
  wire::ToNode::Item item;
  auto& ended = *item.mutable_watch_ended();
  ended.set_stream(stream);
  ended.set_refused(is_refusal);
  write_error(*ended.mutable_reason(), error);
  send_item(item);
}

void node_session::check_streams() {
  informer::check_streams();
  for (const auto& [stream, s] : streams_)
    tell(context_.core.watcher, more{s.number, 0});
}

// -- from the watcher -----------------------------------------------------------------------------

void node_session::on_watch(const watch_events& m) {
  if (m.id < first_number) return on_watch_events(m);
  const auto found = stream_of_.find(m.id);
  if (found == stream_of_.end()) {
    tell(context_.core.watcher, unsubscribe{m.id});
    return;
  }
  auto& s = streams_.at(found->second);
  s.last = std::max(s.last, m.up_to);
  s.synced = m.synced;
  s.credit -= static_cast<std::int64_t>(m.events.size());
  events_ += m.events.size();
  const bool others = has_pods_of_others(s.subscription.prefix(), s.subscription.on_node());
  for (auto& part : write_events(s.subscription.stream(), others ? reduced(m) : m)) {
    wire::ToNode::Item item;
    *item.mutable_watch_events() = std::move(part);
    send_item(item);
  }
}

void node_session::on_watch_end(const watch_ended& m) {
  if (m.id < first_number) return on_watch_ended(m);
  const auto found = stream_of_.find(m.id);
  if (found == stream_of_.end()) return;
  const auto stream = found->second;
  auto& s = streams_.at(stream);
  // The watcher has crashed: resume after the last revision that the node has seen.
  if (m.reason.code != persistence::errc::compacted && s.synced) return subscribe_again(s);
  stream_of_.erase(found);
  streams_.erase(stream);
  end_stream(stream, m.reason, false);
}

void node_session::on_pods(const watch_events& m) {
  for (const auto& event : m.events) {
    for (const auto& key : references_.take(event)) {
      std::vector<std::uint64_t> ended;
      for (const auto& [stream, s] : streams_)
        if (s.subscription.prefix() == key) ended.push_back(stream);
      for (const auto stream : ended) {
        wire::Unsubscribe gone;
        gone.set_stream(stream);
        on_unsubscribe(gone);
        end_stream(stream,
                   {persistence::errc::invalid,
                    fmt::format("no pod of node {} refers to {} any more", node_, key)},
                   true);
      }
    }
  }
  if (!m.synced || std::exchange(pods_known_, true)) return;
  for (const auto& each : std::exchange(early_, {}))
    on_subscribe(each);
}

// The key in the Node may change while its certificate is renewed: the link stays until the node
// calls again. A Node without a key was removed from the cluster.
void node_session::on_node(const watch_events& m) {
  for (const auto& event : m.events) {
    const bool gone =
        event.type == event_type::deleted || (event.object && !has_joined(*event.object));
    if (gone) return leave(removal_reason(node_));
  }
}

// -- the node's requests --------------------------------------------------------------------------

bool node_session::room_for_request() {
  if (under_way_ >= link_defaults::requests_under_way * 2) return false;
  ++under_way_;
  return true;
}

// The session sets the author of a write, not the node. It also gives a new Lease its identity.
persistence::expected<persistence::transaction> node_session::prepare(
    persistence::transaction transaction) {
  transaction.cause.author = "kubelet/" + node_;
  const auto state = context_.store->read();
  if (const auto allowed = may_commit(state, node_, transaction); !allowed) {
    ++refused_;
    return persistence::fail(allowed.error());
  }
  auto& written = transaction.mutations.front();
  if (transaction.preconditions.front().at != 0 || written.kind != &api::kind_of<Lease>())
    return transaction;
  auto made = create_transaction(state, *written.kind, std::move(written.content), checks::all,
                                 wall_now(), random());
  if (!made) return persistence::fail(persistence::errc::invalid, made.error().message);
  made->cause = transaction.cause;
  return std::move(*made);
}

void node_session::on_commit(const wire::Commit& m) {
  const auto id = m.id();
  auto transaction = read_commit(m);
  if (!transaction)
    return commit_answered(id, tl::make_unexpected(persistence::error{persistence::errc::invalid,
                                                                      transaction.error()}));
  auto ready = prepare(std::move(*transaction));
  if (!ready) return commit_answered(id, tl::make_unexpected(ready.error()));
  if (!room_for_request())
    return commit_answered(
        id, tl::make_unexpected(persistence::error{
                persistence::errc::overloaded,
                fmt::format("{} requests of node {} are under way", under_way_, node_)}));
  ++commits_;
  request<commit_done>(
      context_.core.writer, commit{std::make_shared<persistence::transaction>(std::move(*ready))},
      defaults::write_timeout, [this, id](auto reply) {
        --under_way_;
        if (reply) return commit_answered(id, (*reply)->result);
        commit_answered(
            id, tl::make_unexpected(persistence::error{
                    persistence::errc::io, fmt::format("the writer did not answer: {}",
                                                       runtime::to_string(reply.error()))}));
      });
}

void node_session::commit_answered(std::uint64_t id, const persistence::outcome& result) {
  if (!result && result.error().code != persistence::errc::conflict)
    log().warn("link: a write of node {} was refused: {}", node_,
               cut(result.error().message, link_defaults::reason_limit_bytes));
  if (id == 0) return;
  wire::ToNode::Item item;
  write_commit_done(*item.mutable_commit_done(), id, result);
  send_item(item);
}

template <class Command>
void node_session::send_command(std::uint64_t id, Command command,
                                const api::expected<void>& allowed) {
  if (!allowed) {
    ++refused_;
    return command_answered(id, api::fail(allowed.error()));
  }
  if (!room_for_request())
    return command_answered(
        id, api::fail(api::too_many_requests(
                fmt::format("{} requests of node {} are under way", under_way_, node_), 1)));
  command.cause.author = "kubelet/" + node_;
  request<command_done>(
      context_.core.writer, std::move(command), defaults::write_timeout, [this, id](auto reply) {
        --under_way_;
        if (reply) return command_answered(id, (*reply)->result);
        command_answered(id,
                         api::fail(api::service_unavailable(fmt::format(
                             "the writer did not answer: {}", runtime::to_string(reply.error())))));
      });
}

void node_session::on_evict(const wire::Evict& m) {
  auto eviction = read_evict(m);
  const auto allowed = may_evict(context_.store->read(), node_, eviction);
  send_command(m.id(), std::move(eviction), allowed);
}

void node_session::on_remove(const wire::Remove& m) {
  auto removal = read_remove(m);
  const auto allowed = may_remove(context_.store->read(), node_, removal);
  send_command(m.id(), std::move(removal), allowed);
}

void node_session::command_answered(std::uint64_t id,
                                    const api::expected<api::object_ptr>& result) {
  if (id == 0) return;
  wire::ToNode::Item item;
  write_command_done(*item.mutable_command_done(), id, result);
  send_item(item);
}

void node_session::on_record_event(const wire::RecordEvent& m) {
  const auto about = may_record(context_.store->read(), node_, m.key(), m.uid());
  if (!about) {
    ++refused_;
    return;
  }
  const auto ago_ms = std::min<std::uint64_t>(m.ago_ms(), link_defaults::event_age_limit.count());
  tell(context_.core.recorder, record_event{.about = *about,
                                            .warning = m.warning(),
                                            .reason = cut(m.reason(), event_reason_chars),
                                            .message = cut(m.message(), event_message_bytes),
                                            .component = "kubelet",
                                            .field_path = cut(m.field_path(), event_message_bytes),
                                            .host = node_,
                                            .ago = std::chrono::milliseconds{ago_ms}});
}

void node_session::on_request_token(const wire::RequestToken& m) {
  auto wanted = read_request_token(m);
  if (const auto allowed = may_request_token(context_.store->read(), node_, wanted.order);
      !allowed) {
    ++refused_;
    return token_answered(m.id(), api::fail(allowed.error()));
  }
  if (!room_for_request())
    return token_answered(
        m.id(), api::fail(api::too_many_requests(
                    fmt::format("{} requests of node {} are under way", under_way_, node_), 1)));
  request<token_answer>(
      context_.tokens, std::move(wanted), defaults::write_timeout, [this, id = m.id()](auto reply) {
        --under_way_;
        if (reply) return token_answered(id, (*reply)->result);
        token_answered(id, api::fail(api::service_unavailable(fmt::format(
                               "no token was made: {}", runtime::to_string(reply.error())))));
      });
}

void node_session::token_answered(std::uint64_t id, const api::expected<granted_token>& result) {
  wire::ToNode::Item item;
  write_token_answer(*item.mutable_token_answer(), id, result);
  send_item(item);
}

// -- to the link ----------------------------------------------------------------------------------

// Items sent while messages are queued go in one frame: the flush is queued behind them.
void node_session::send_item(wire::ToNode::Item& item) {
  item.set_request(current_cause().request);
  item.set_revision(current_cause().revision);
  if (!out_.add(item)) {
    log().error("link: a message to node {} is larger than a frame: its session ends", node_);
    return leave("a message is larger than a frame: call again");
  }
  if (!flush_ordered_) flush_ordered_ = tell(self(), flush{});
}

void node_session::on_flush(const flush&) {
  flush_ordered_ = false;
  if (out_.flush()) return;
  if (out_.backlog() > link_defaults::backlog_limit_bytes)
    return leave("the node does not read from the link: call again");
  flush_ordered_ = true;
  again_ = after(link_defaults::backlog_round, [this] { on_flush({}); });
}

void node_session::leave(const std::string& reason) {
  if (std::exchange(leaving_, true)) return;
  log().info("link: the session of node {} ends: {}", node_, reason);
  if (is_removal_reason(reason)) {
    wire::ToNode::Item item;
    item.mutable_left()->set_reason(reason);
    out_.add(item);
    out_.flush();
  }
  inbox_->session()->close(reason);
  stop();
}

}  // namespace troupe::actors
