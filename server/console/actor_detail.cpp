// All that is known of one actor. What only itself knows it is asked for, and left out when it is
// too busy to answer in time.
#include <algorithm>

#include "server/console/views.hpp"
#include "server/console/watches.hpp"

namespace troupe::server {
namespace {

void append_messages(json_writer& out, const runtime::actor_detail& detail) {
  const auto age = std::max(std::chrono::duration<double>{detail.info.age}.count(), 1e-3);
  auto rows = detail.messages;
  std::sort(rows.begin(), rows.end(),
            [](const auto& a, const auto& b) { return a.received + a.sent > b.received + b.sent; });
  // `times` counts the handlers that took no longer than each of these, and the longer ones.
  out.begin_array("timesUpToSeconds");
  for (const auto& each : runtime::time_classes)
    out.value(each);
  out.end_array();
  out.begin_array("messages");
  for (const auto& each : rows) {
    out.begin_object()
        .member("type", each.type)
        .member("in", each.received)
        .member("out", each.sent)
        .member("perSecond", static_cast<double>(each.received + each.sent) / age)
        .member("busySeconds", each.busy)
        .member("longestSeconds", each.longest)
        .member("lastSeconds", each.last)
        .member("lastRequest", request_text(each.why.request))
        .member("lastRevision", each.why.revision)
        .begin_array("times");
    for (const auto count : each.times)
      out.value(count);
    out.end_array().end_object();
  }
  out.end_array();
}

void append_restarts(json_writer& out, const runtime::actor_detail& detail) {
  out.begin_array("restartReasons");
  for (const auto& each : detail.restarts) {
    out.begin_object()
        .member(
            "time",
            time_text(std::chrono::time_point_cast<std::chrono::system_clock::duration>(each.at)))
        .member("during", each.during)
        .member("error", each.error)
        .end_object();
  }
  out.end_array();
}

void append_last_messages(json_writer& out, const console_context& in, std::uint64_t id) {
  auto records = in.company.recorder().read_all();
  std::erase_if(records, [id](const runtime::trace_record& each) {
    return each.receiver != id && each.sender != id;
  });
  if (records.size() > defaults::messages_shown)
    records.erase(records.begin(), records.end() - defaults::messages_shown);
  std::vector<std::uint64_t> ids;
  for (const auto& each : records) {
    ids.push_back(each.receiver);
    ids.push_back(each.sender);
  }
  const auto names = names_of(in, ids);
  const auto now = in.company.time().now();
  out.begin_array("lastMessages");
  for (const auto& each : records) {
    const bool received = each.receiver == id;
    const auto other = received ? each.sender : each.receiver;
    out.begin_object()
        .member("agoSeconds", now - each.at)
        .member("direction", received ? "in" : "out")
        .member("type", each.type)
        .member("with", other == 0 ? "outside" : std::string_view{names.at(other)})
        .member("request", request_text(each.why.request))
        .member("revision", each.why.revision)
        .member("waitedSeconds", each.waited)
        .member("tookSeconds", each.took)
        .end_object();
  }
  out.end_array();
}

void append_inspection(json_writer& out, const console_context& in, const runtime::actor_info& of) {
  std::optional<runtime::inspection> seen;
  // A paused one answers nobody.
  if (!of.paused && !of.backing_off)
    seen = ask<runtime::inspection>(in, in.actors().reference(of.id), runtime::inspect{});
  out.member("answered", seen.has_value());
  if (!seen) return;
  out.member("children", seen->children).member("openRequests", seen->requests);
  out.begin_array("timers");
  for (const auto& each : seen->timers) {
    out.begin_object()
        .member("dueSeconds", each.due_in)
        .member("periodSeconds", each.period)
        .end_object();
  }
  out.end_array();
  out.member("stateYaml", seen->state);
}

void append_link(json_writer& out, std::string_view as, std::string_view with) {
  out.begin_object().member("as", as).member("with", with).end_object();
}

// Who ends or is told when it ends, and who tells it of changes: supervisor, children, watcher.
void append_links(json_writer& out, const console_context& in, const runtime::actor_info& of) {
  actors::watch_report watches;
  const bool is_watcher = in.plane != nullptr && of.id == in.plane->doors().watcher.id();
  if (auto seen =
          ask_watcher(in, {.limit = defaults::links_shown, .subscriber = is_watcher ? 0 : of.id}))
    watches = std::move(*seen);
  out.begin_array("links");
  if (of.parent != 0) append_link(out, "supervised by", name_of(in, of.parent));
  if (is_watcher) {
    for (const auto& row : watches.rows)
      append_link(out, "watched by", name_of(in, row.subscriber));
  } else if (!watches.rows.empty()) {
    append_link(out, "watches", name_of(in, in.plane->doors().watcher.id()));
  }
  std::size_t shown = 0;
  in.actors().each([&](const runtime::actor_info& each) {
    if (each.parent == of.id && ++shown <= defaults::links_shown)
      append_link(out, "supervises", full_name(each));
  });
  out.end_array();
  // Of a joined node's actors the watcher knows nothing: its gateway follows for all of them.
  if (is_watcher || in.plane == nullptr) return;
  out.begin_array("subscriptions");
  for (const auto& row : watches.rows) {
    out.begin_object();
    append_subscription(out, row);
    out.end_object();
  }
  out.end_array();
}

}  // namespace

view_result show_actor(const console_context& in, const query_string& query) {
  const auto found = find_actor(in, query.get_or("name", ""));
  if (!found) return api::fail(found.error());
  const auto detail = in.actors().detail(found->id);
  if (!detail) return api::fail(api::service_unavailable("the actor has just ended"));
  const auto& info = detail->info;
  const auto parent = info.parent == 0 ? std::nullopt : in.actors().find(info.parent);
  json_writer out;
  out.begin_object()
      .member("actor", full_name(info))
      .member("id", info.id)
      .member("supervisor", parent ? full_name(*parent) : std::string{})
      .member("node", in.node)
      .member("ageSeconds", info.age)
      .member("paused", info.paused)
      .member("backingOff", info.backing_off)
      .member("mailbox", info.mailbox)
      .member("oldestSeconds", info.oldest)
      .member("received", info.received)
      .member("handled", info.handled)
      .member("busySeconds", info.busy)
      .member("longestSeconds", info.longest)
      .member("current", info.current)
      .member("runningSeconds", info.current_for)
      .member("restarts", info.restarts)
      .member("lastError", info.last_error);
  if (detail->log_level) out.member("logLevel", level_text(*detail->log_level));
  append_inspection(out, in, info);
  append_links(out, in, info);
  append_messages(out, *detail);
  append_restarts(out, *detail);
  append_last_messages(out, in, info.id);
  out.end_object();
  return view_answer{out};
}

}  // namespace troupe::server
