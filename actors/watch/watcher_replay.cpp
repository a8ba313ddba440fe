// Replays changes to a stream that is not live.
#include <algorithm>
#include <utility>

#include "actors/watch/watcher.hpp"

namespace troupe::actors {

using persistence::change;

namespace {

// At most `limit` changes in whole revisions, or more if one revision has more.
tl::expected<std::vector<change>, persistence::error> read_part(const persistence::store& store,
                                                                revision after, std::size_t limit) {
  for (;; limit *= 2) {
    auto changes = store.changes(after, limit);
    if (!changes || changes->size() < limit) return changes;
    // The last revision may continue after the limit.
    const auto cut = changes->back().at;
    if (changes->front().at == cut) continue;
    std::erase_if(*changes, [&](const change& c) { return c.at == cut; });
    return changes;
  }
}

}  // namespace

// Collects events for one message: the whole revisions that credit and message limit allow.
class watcher::gathering {
 public:
  explicit gathering(const watch_stream& s) : stream_{s}, up_to_{s.position} {}

  // Returns false if the change must wait for the next message.
  bool operator()(const change& c) {
    const auto room = std::min<std::int64_t>(stream_.credit, defaults::message_events);
    if (c.at != up_to_ && static_cast<std::int64_t>(events_.size()) >= room) {
      complete_ = false;
      return false;
    }
    up_to_ = c.at;
    if (auto event = event_for(stream_.view, c, left_)) events_.push_back(std::move(*event));
    return true;
  }

  bool complete() const noexcept { return complete_; }
  revision up_to() const noexcept { return up_to_; }
  std::vector<watch_event>& events() noexcept { return events_; }

 private:
  const watch_stream& stream_;
  event_objects left_;
  std::vector<watch_event> events_;
  revision up_to_;
  bool complete_ = true;
};

void watcher::advance(watch_stream& s) {
  s.retry = false;
  while (!s.dead && !s.retry && !s.live && !s.reading()) {
    if (!s.initial && s.position >= window_.newest()) {
      s.live = true;
    } else if (s.credit <= 0) {
      return;
    } else if (s.initial) {
      send_initial(s);
    } else if (s.position >= window_.from()) {
      replay_window(s);
    } else {
      read_log(s);
    }
  }
}

// Sends one message of the initial state.
void watcher::send_initial(watch_stream& s) {
  const auto& from = *s.initial;
  const auto room = std::min<std::int64_t>(s.credit, defaults::message_events);
  std::vector<watch_event> events;
  std::string last = from.after;
  bool complete = true;
  const auto visit = [&](std::string_view key, const api::object_ptr& object) {
    if (!s.view.shows(object)) return true;
    if (static_cast<std::int64_t>(events.size()) == room) return complete = false;
    const auto at = object->revision();
    events.push_back({event_type::added, at, object, {}, window_.cause(at, key)});
    last = key;
    return true;
  };
  if (s.view.prefix.ends_with('/')) {
    from.state.scan(s.view.prefix, from.after, visit);
  } else if (const auto found = from.state.find(s.view.prefix)) {
    visit(s.view.prefix, found);
  }
  if (!complete) {
    if (send_events(s, std::move(events), 0)) s.initial->after = std::move(last);
    return;
  }
  auto initial = std::exchange(s.initial, std::nullopt);
  s.position = initial->state.at();
  if (!send_events(s, std::move(events), s.position)) s.initial = std::move(initial);
}

void watcher::replay_window(watch_stream& s) {
  gathering found{s};
  window_.each(s.position, [&](const change& c) { return found(c); });
  replayed_ += found.events().size();
  const auto up_to = found.complete() ? window_.newest() : found.up_to();
  if (found.events().empty() || send_events(s, std::move(found.events()), up_to)) {
    s.position = up_to;
  }
}

void watcher::replay_part(watch_stream& s, const std::vector<change>& changes) {
  gathering found{s};
  for (const auto& c : changes) {
    if (!found(c)) break;
  }
  replayed_ += found.events().size();
  const auto up_to = found.up_to();
  if (changes.empty()) {
    // All revisions in between are empty: the window has the rest.
    s.position = std::max(s.position, window_.from());
  } else if (found.events().empty() || send_events(s, std::move(found.events()), up_to)) {
    s.position = up_to;
  }
}

void watcher::read_log(watch_stream& s) {
  if (read({s.key, s.serial, s.position})) {
    s.reading_until = now() + defaults::log_read_limit;
  } else {
    s.retry = true;
  }
}

// The answer arrives as a message, with or without a reading thread.
bool watcher::read(log_part request) {
  ++log_reads_;
  const auto limit = options_.log_part_changes;
  if (!options_.log_reader) {
    request.changes = read_part(*store_, request.after, limit);
    return tell(self(), std::move(request));
  }
  return options_.log_reader->post([to = self(), store = store_, limit, request]() mutable {
    request.changes = read_part(*store, request.after, limit);
    to.tell(std::move(request));
  });
}

}  // namespace troupe::actors
