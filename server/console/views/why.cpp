// Explains an object's state: from its last changes back to the requests that caused them, with the
// events about it.
//
// Each change in the log has the revision that its author reacted to; that change has another one,
// and so on to a client's request or the end of the log.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "api/schema/core_event.pb.h"
#include "api/scheme.hpp"
#include "server/console/views/change_walk.hpp"
#include "server/console/views/differences.hpp"
#include "server/console/views/views.hpp"

namespace troupe::server {
namespace {

using api::core::v1::Event;
using persistence::change;
using persistence::change_type;

constexpr std::size_t owner_events = 10;  // the latest ones, and the first one
constexpr std::size_t events_scanned = 20'000;
constexpr std::size_t named_fields = 3;

struct step {
  std::string time;
  persistence::revision at = 0;
  std::string text;
  std::string by;
  std::string because;
};

class chain {
 public:
  explicit chain(const console_context& context) : context_{context} {}

  // Adds the change and its chain of causes.
  void follow(const change& last) {
    add(last);
    auto trigger = last.cause.trigger;
    for (std::size_t i = 0; i < defaults::chain_limit && trigger != 0; ++i) {
      if (seen_.count(trigger) != 0) return;
      const auto all = changes_at(context_.store(), trigger);
      if (all.empty()) {
        seen_.insert(trigger);
        return;
      }
      for (const auto& each : all)
        add(each);
      trigger = all.front().cause.trigger;
    }
  }

  void add_event(const Event& event, persistence::revision at) {
    step made;
    made.at = at;
    const auto seconds = event.last_timestamp().seconds() != 0 ? event.last_timestamp().seconds()
                                                               : event.event_time().seconds();
    made.time = time_text(std::chrono::system_clock::time_point{std::chrono::seconds{seconds}});
    made.text = fmt::format("{}: {}", event.reason(), event.message());
    if (event.count() > 1) made.text += fmt::format(" ({} times)", event.count());
    made.by = event.reporting_component().empty() ? event.source().component()
                                                  : event.reporting_component();
    steps.push_back(std::move(made));
  }

  // Adds a line for changes that are not shown.
  void add_gap(persistence::revision at, std::chrono::system_clock::time_point when,
               std::string text) {
    add_gap(at, time_text(when), std::move(text));
  }
  void add_gap(persistence::revision at, std::string time, std::string text) {
    steps.push_back({std::move(time), at, "… " + std::move(text), "", ""});
  }

  std::vector<step> steps;

 private:
  void add(const change& change) {
    if (!keys_.insert({change.at, change.key}).second) return;
    seen_.insert(change.at);
    step made;
    made.at = change.at;
    made.time = time_text(change.time);
    made.text = readable_key(change.key) + suffix_of(change);
    made.by = change.cause.author.empty() ? "?" : change.cause.author;
    if (const auto request = context_.requests.find(change.cause.request);
        request && change.cause.trigger == 0) {
      made.because = fmt::format("request {} by {}: {} {}", request_text(request->id),
                                 request->user, request->method, request->path);
    } else if (change.cause.trigger != 0) {
      made.because = fmt::format("revision {}", change.cause.trigger);
    } else if (change.cause.request != 0) {
      made.because = "request " + request_text(change.cause.request);
    }
    steps.push_back(std::move(made));
  }

  static std::string suffix_of(const change& change) {
    if (change.type == change_type::created) return " was created";
    if (change.type == change_type::removed) return " was removed";
    std::string fields;
    std::size_t count = 0;
    for (const auto& each :
         differences(change.previous.get(), change.object.get(), defaults::differences_limit)) {
      if (each.path == "metadata.generation") continue;
      if (++count > named_fields) continue;
      fields += (fields.empty() ? " " : ", ") + each.path;
      if (each.to.size() <= 40) fields += "=" + (each.to.empty() ? "(none)" : each.to);
    }
    if (count > named_fields) fields += fmt::format(" and {} more", count - named_fields);
    return " changed" + fields;
  }

  const console_context& context_;
  std::set<persistence::revision> seen_;
  std::set<std::pair<persistence::revision, std::string>> keys_;
};

void add_changes(chain& to, const change_walk& walk) {
  const auto& all = walk.changes;
  if (walk.unlogged)
    to.add_gap(walk.unlogged->revision(), "", "its last change is no longer in the log");
  if (all.empty()) return;
  if (walk.end == walk_end::log)
    to.add_gap(all.back().at, all.back().time, "earlier changes are no longer in the log");
  const auto shown = std::min(all.size(), owner_events);
  for (std::size_t i = 0; i < shown; ++i)
    to.follow(all[i]);
  auto left_out = all.size() - shown;
  if (left_out == 0) return;
  if (walk.end == walk_end::creation) {
    to.follow(all.back());
    --left_out;
  }
  if (left_out != 0)
    to.add_gap(all[shown].at, all[shown].time,
               fmt::format("{}{} changes left out: see history",
                           walk.end == walk_end::limit ? "more than " : "", left_out));
}

// First the events named after the object, as ours and those of client libraries are, then others
// of its namespace, within the time limit.
void add_events(chain& to, const console_context& context, const object_name& name,
                const std::string& uid) {
  const auto state = context.store().read();
  const auto& events = api::kind_of<Event>();
  const auto named = events.prefix(name.ns.empty() ? "default" : name.ns) + name.name + ".";
  const auto take = [&](const api::object_ptr& found) {
    const auto& event = found->as<Event>();
    const auto& about = event.involved_object();
    if (about.kind() == name.kind->kind() && about.name() == name.name &&
        (about.uid().empty() || uid.empty() || about.uid() == uid))
      to.add_event(event, found->revision());
  };
  std::size_t scanned = 0;
  const auto within_bound = [&] { return ++scanned <= events_scanned; };
  state.scan(named, {}, [&](std::string_view, const api::object_ptr& found) {
    take(found);
    return within_bound();
  });
  scanned = 0;
  state.scan(events.prefix(name.ns), {}, [&](std::string_view key, const api::object_ptr& found) {
    if (!key.starts_with(named)) take(found);
    return within_bound();
  });
  if (scanned > events_scanned && !to.steps.empty())
    to.add_gap(state.at(), std::chrono::system_clock::now(),
               fmt::format("of its namespace only {} events were searched", events_scanned));
}

}  // namespace

view_result show_why(const console_context& context, const query_string& query) {
  const auto name = parse_object_name(query.get_or("object", ""));
  if (!name) return api::fail(name.error());
  const auto walk = changes_of(context.store(), name->key(), defaults::history_limit);
  if (!walk) return api::fail(api::service_unavailable(walk.error().message));
  chain all{context};
  add_changes(all, *walk);
  add_events(all, context, *name,
             walk->unlogged          ? walk->unlogged->meta().uid()
             : walk->changes.empty() ? ""
                                     : walk->changes.front().object->meta().uid());
  if (all.steps.empty()) return api::fail(api::not_found(*name->kind, name->name));
  std::stable_sort(all.steps.begin(), all.steps.end(),
                   [](const step& a, const step& b) { return a.at < b.at; });
  json_writer out;
  out.begin_array();
  for (const auto& each : all.steps) {
    out.begin_object()
        .member("revision", each.at)
        .member("time", each.time)
        .member("what", each.text)
        .member("by", each.by)
        .member("because", each.because)
        .end_object();
  }
  out.end_array();
  return view_answer{out};
}

}  // namespace troupe::server
