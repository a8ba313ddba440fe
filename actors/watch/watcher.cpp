#include "actors/watch/watcher.hpp"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <iterator>
#include <stdexcept>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "actors/core/log.hpp"
#include "runtime/actor_system.hpp"

namespace troupe::actors {

using persistence::change;
using persistence::change_batch;

watcher::watcher(persistence::store* store, watcher_options options)
    : store_{store},
      options_{std::move(options)},
      window_{options_.window_changes, options_.window_bytes} {}

const runtime::behavior& watcher::make_behavior() const {
  static const auto table = runtime::handlers(
      &watcher::on_committed, &watcher::on_log_part, &watcher::on_subscribe, &watcher::on_more,
      &watcher::on_bookmark_now, &watcher::on_unsubscribe, &watcher::on_report_watches);
  return table;
}

void watcher::started() {
  window_.begin(store_->read().at());
  seen_at_last_round_ = window_.newest();
  round_ = every(defaults::watcher_round, [this] { round(); });
  sweep_ = every(defaults::bookmark_period, [this] { sweep(); });
}

std::string watcher::describe() const {
  const auto behind = std::count_if(streams_.begin(), streams_.end(),
                                    [](const auto& entry) { return !entry.second->live; });
  return fmt::format(
      "revision: {}\nwindow: {{from: {}, changes: {}, bytes: {}}}\n"
      "streams: {{all: {}, behind: {}}}\noffers: {}\nevents: {{sent: {}, replayed: {}}}\n"
      "logReads: {}\n",
      window_.newest(), window_.from(), window_.changes(), window_.bytes(), streams_.size(), behind,
      offers_, sent_, replayed_, log_reads_);
}

// -- messages from the store ----------------------------------------------------------------------

void watcher::on_committed(const committed& m) {
  const auto newest = window_.newest();
  // After a start the mailbox may contain changes that the store already showed; while a gap is
  // being read from the log, later batches are read from there, too.
  const bool filling = gap_until_ != runtime::time_point{};
  if (filling || m.changes->empty() || m.changes->back().at <= newest) return;
  if (m.after > newest) {
    fill_gap();
  } else if (m.changes->front().at > newest) {
    take(m.changes);
  } else {
    auto rest = std::make_shared<std::vector<change>>();
    std::copy_if(m.changes->begin(), m.changes->end(), std::back_inserter(*rest),
                 [&](const change& c) { return c.at > newest; });
    take(std::move(rest));
  }
  erase_dead();
}

void watcher::on_log_part(const log_part& m) {
  if (m.serial == 0) {
    on_missed(m);
    return erase_dead();
  }
  const auto found = streams_.find(m.stream);
  if (found == streams_.end() || found->second->serial != m.serial) return;
  auto& s = *found->second;
  if (!s.reading() || m.after != s.position) return;
  s.reading_until = {};
  if (m.changes) {
    replay_part(s, *m.changes);
    advance(s);
  } else if (m.changes.error().code == persistence::errc::compacted) {
    end(s, m.changes.error());
  } else if (m.changes.error().code == persistence::errc::corrupt) {
    // The subscriber has lost this history: a new list continues from the newest state.
    log().error("watcher: {}", m.changes.error().message);
    end(s, {persistence::errc::compacted, m.changes.error().message});
  } else {
    log().warn("watcher: the change log cannot be read: {}", m.changes.error().message);
    s.retry = true;
  }
  erase_dead();
}

// -- new changes, to live streams -----------------------------------------------------------------

void watcher::take(change_batch batch) {
  const auto before = window_.newest();
  window_.add(batch, now());
  fan_out(*batch, before);
}

void watcher::fan_out(const std::vector<change>& batch, revision before) {
  changes_by_name by_resource;
  changes_view all;
  for (const auto& c : batch) {
    by_resource[resource_of(c.key)].push_back(&c);
    all.push_back(&c);
  }
  event_objects left;
  if (const auto* group = index_.find({})) offer_all(group->streams, all, before, left);
  for (const auto& [resource, changes] : by_resource) {
    const auto* group = resource.empty() ? nullptr : index_.find(resource);
    if (group == nullptr) continue;
    offer_all(group->streams, changes, before, left);
    if (!group->by_prefix.empty())
      offer_by(group->by_prefix, by_prefix(changes, resource), before, left);
    if (!group->by_node.empty()) offer_by(group->by_node, by_node(changes), before, left);
  }
}

watcher::changes_by_name watcher::by_prefix(const changes_view& changes,
                                            std::string_view resource) {
  changes_by_name out;
  for (const auto* c : changes)
    each_prefix(c->key, resource, [&](std::string_view prefix) { out[prefix].push_back(c); });
  return out;
}

watcher::changes_by_name watcher::by_node(const changes_view& changes) {
  changes_by_name out;
  for (const auto* c : changes) {
    const auto then = c->previous ? node_of(*c->previous) : std::string_view{};
    // A removed object is its last state again, which is not copied here.
    const bool last_state = c->type == persistence::change_type::removed && c->previous;
    const auto now = c->object && !last_state ? node_of(*c->object) : std::string_view{};
    if (!now.empty()) out[now].push_back(c);
    if (!then.empty() && then != now) out[then].push_back(c);
  }
  return out;
}

void watcher::offer_by(const stream_index::lists& lists, const changes_by_name& changes,
                       revision before, event_objects& left) {
  for (const auto& [name, of_name] : changes) {
    const auto found = lists.find(std::string{name});
    if (found != lists.end()) offer_all(found->second, of_name, before, left);
  }
}

void watcher::offer_all(const stream_list& streams, const changes_view& changes, revision before,
                        event_objects& left) {
  shared_events seen{changes, left, {}, nullptr};
  for (auto* s : streams)
    offer(*s, seen, before);
}

// Views of one place without a filter share one list.
event_list watcher::shared_events::of(const watch_stream& s) {
  const bool shareable = s.position < changes.front()->at && !s.view.accept;
  if (shareable && first != nullptr && first->is_equivalent(s.view)) return shared;
  std::vector<watch_event> own;
  for (const auto* c : changes) {
    if (c->at <= s.position) continue;
    if (auto event = event_for(s.view, *c, left)) own.push_back(std::move(*event));
  }
  event_list events;
  if (!own.empty()) events = std::move(own);
  if (shareable && first == nullptr) {
    first = &s.view;
    shared = events;
  }
  return events;
}

void watcher::offer(watch_stream& s, shared_events& seen, revision before) {
  if (!s.live || s.dead) return;
  ++offers_;
  auto events = seen.of(s);
  if (events.empty()) return;
  const bool affordable = s.credit >= static_cast<std::int64_t>(events.size());
  if (affordable && send_events(s, std::move(events), window_.newest())) return;
  s.live = false;
  s.position = std::max(s.position, before);
  // Events within the credit are replayed from the window, like all later ones.
  if (!affordable) advance(s);
}

// Batches are lost if the mailbox is full: the log has them.
void watcher::fill_gap() {
  log().warn("watcher: revisions after {} did not arrive; reading them from the log",
             window_.newest());
  if (read({.after = window_.newest()})) gap_until_ = now() + defaults::log_read_limit;
}

void watcher::on_missed(const log_part& m) {
  if (m.after != window_.newest()) return;
  gap_until_ = {};
  if (!m.changes) {
    // No stream can continue from here: restart as after a crash.
    throw std::runtime_error{"the change log cannot be read: " + m.changes.error().message};
  }
  if (!m.changes->empty()) take(std::make_shared<const std::vector<change>>(*m.changes));
  if (!m.changes->empty() && window_.newest() < store_->read().at()) fill_gap();
}

// -- messages from subscribers --------------------------------------------------------------------

void watcher::on_subscribe(const subscribe& m) {
  const stream_key key{sender().id(), m.id};
  if (key.actor == 0) return;
  if (auto* old = find(m.id)) {
    drop(*old);
    erase_dead();
  }
  auto made = std::make_unique<watch_stream>();
  auto& s = *made;
  s.key = key;
  s.subscriber = sender();
  s.serial = ++last_serial_;
  s.view = {m.prefix, m.accept, m.on_node};
  s.credit = m.credit;
  s.bookmarks = m.bookmarks;
  s.position = m.after;
  if (m.after == 0) {
    s.initial.emplace(
        watch_stream::initial_state{store_->read(), {}, now() + defaults::initial_state_limit});
  }
  index_.add(s);
  streams_.emplace(key, std::move(made));
  advance(s);
  erase_dead();
}

void watcher::on_more(const more& m) {
  auto* s = find(m.id);
  if (s == nullptr) {
    tell(sender(), watch_ended{m.id,
                               {.code = persistence::errc::closed,
                                .message = fmt::format("the watcher has no stream {}: subscribe "
                                                       "again from the last revision seen",
                                                       m.id),
                                .key = {}}});
    return;
  }
  s->credit += m.credit;
  advance(*s);
  erase_dead();
}

void watcher::on_bookmark_now(const bookmark_now& m) {
  if (auto* s = find(m.id)) bookmark(*s);
  erase_dead();
}

void watcher::on_unsubscribe(const unsubscribe& m) {
  if (auto* s = find(m.id)) drop(*s);
  erase_dead();
}

watch_stream* watcher::find(std::uint64_t id) {
  const auto found = streams_.find({sender().id(), id});
  return found == streams_.end() ? nullptr : found->second.get();
}

// -- sending --------------------------------------------------------------------------------------

// Returns false if the message was not accepted: the stream was dropped, or is retried.
bool watcher::send_events(watch_stream& s, event_list events, revision up_to) {
  const auto count = events.size();
  if (count != 0) {
    const auto& last = events[count - 1];
    current_cause({last.cause.request, last.at});
  }
  if (tell(s.subscriber, watch_events{s.key.id, up_to, !s.initial, std::move(events)})) {
    s.credit -= static_cast<std::int64_t>(count);
    sent_ += count;
    return true;
  }
  if (system().actors().find(s.key.actor)) {
    s.retry = true;
  } else {
    drop(s);
  }
  return false;
}

void watcher::bookmark(watch_stream& s) {
  if (!s.live || s.credit <= 0 || s.position > window_.newest()) return;
  send_events(s, std::vector<watch_event>{{event_type::bookmark, window_.newest(), nullptr}},
              window_.newest());
}

void watcher::end(watch_stream& s, persistence::error reason) {
  tell(s.subscriber, watch_ended{s.key.id, std::move(reason)});
  drop(s);
}

void watcher::drop(watch_stream& s) {
  if (std::exchange(s.dead, true)) return;
  dead_.push_back(s.key);
}

// Removes streams that were dropped while the index was being visited.
void watcher::erase_dead() {
  for (const auto& key : dead_) {
    const auto found = streams_.find(key);
    index_.remove(*found->second);
    streams_.erase(found);
  }
  dead_.clear();
}

// -- timers ---------------------------------------------------------------------------------------

void watcher::round() {
  const auto present = now();
  window_.forget(present - defaults::window_time);
  for (auto& [key, s] : streams_) {
    if (s->initial && present > s->initial->deadline) {
      end(*s, {.code = persistence::errc::overloaded,
               .message = "the subscriber was too slow to take the initial state: subscribe again",
               .key = {}});
      continue;
    }
    if (s->reading() && present > s->reading_until) {
      s->reading_until = {};
      s->retry = true;
    }
    if (s->retry) advance(*s);
  }
  // A batch that the store showed a round ago and that has not arrived was lost.
  const bool overdue = gap_until_ != runtime::time_point{} && present > gap_until_;
  const bool filling = gap_until_ != runtime::time_point{} && !overdue;
  if (!filling && window_.newest() < seen_at_last_round_) fill_gap();
  seen_at_last_round_ = store_->read().at();
  if (api::object::text_bytes() > defaults::text_bytes) forget_texts();
  erase_dead();
}

// Drops the cached encodings of the store's objects; other objects are short-lived.
void watcher::forget_texts() {
  const auto state = store_->read();
  state.forget_texts();
  if (api::object::text_bytes() > defaults::text_bytes) state.forget_texts();
}

void watcher::sweep() {
  forget_texts();
  for (auto& [key, s] : streams_) {
    if (!system().actors().find(key.actor)) {
      drop(*s);
    } else if (s->bookmarks) {
      bookmark(*s);
    }
  }
  erase_dead();
}

}  // namespace troupe::actors
