// The details of one actor. It is asked for data that only it has, which is omitted if it is too
// busy to answer in time.
#include <algorithm>

#include "server/console/views/views.hpp"
#include "server/console/views/watches.hpp"

namespace troupe::server {
namespace {

void append_messages(json_writer& out, const runtime::actor_detail& detail) {
  const auto age = std::max(std::chrono::duration<double>{detail.info.age}.count(), 1e-3);
  auto rows = detail.messages;
  std::sort(rows.begin(), rows.end(),
            [](const auto& a, const auto& b) { return a.received + a.sent > b.received + b.sent; });
  // `times` counts handlers by these upper bounds of their duration, and the longer ones.
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
        .member("lastRequest", request_text(each.cause.request))
        .member("lastRevision", each.cause.revision)
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

void append_last_messages(json_writer& out, const console_context& context, std::uint64_t id) {
  auto records = context.system.recorder().read_all();
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
  const auto names = names_of(context, ids);
  const auto now = context.system.time().now();
  out.begin_array("lastMessages");
  for (const auto& each : records) {
    const bool received = each.receiver == id;
    const auto other = received ? each.sender : each.receiver;
    out.begin_object()
        .member("agoSeconds", now - each.at)
        .member("direction", received ? "in" : "out")
        .member("type", each.type)
        .member("with", other == 0 ? "outside" : std::string_view{names.at(other)})
        .member("request", request_text(each.cause.request))
        .member("revision", each.cause.revision)
        .member("waitedSeconds", each.waited)
        .member("tookSeconds", each.took)
        .end_object();
  }
  out.end_array();
}

void append_inspection(json_writer& out, const console_context& context,
                       const runtime::actor_info& actor) {
  std::optional<runtime::inspection> inspection;
  // A paused actor does not answer.
  if (!actor.paused && !actor.backing_off)
    inspection =
        ask<runtime::inspection>(context, context.actors().reference(actor.id), runtime::inspect{});
  out.member("answered", inspection.has_value());
  if (!inspection) return;
  out.member("children", inspection->children).member("openRequests", inspection->requests);
  out.begin_array("timers");
  for (const auto& each : inspection->timers) {
    out.begin_object()
        .member("dueSeconds", each.due_in)
        .member("periodSeconds", each.period)
        .end_object();
  }
  out.end_array();
  out.member("stateYaml", inspection->state);
}

void append_link(json_writer& out, std::string_view as, std::string_view with) {
  out.begin_object().member("as", as).member("with", with).end_object();
}

// Linked actors: the supervisor, the children, and the watcher that sends it changes.
void append_links(json_writer& out, const console_context& context,
                  const runtime::actor_info& actor) {
  actors::watch_report watches;
  const bool is_watcher =
      context.plane != nullptr && actor.id == context.plane->core_actors().watcher.id();
  if (auto inspection = ask_watcher(
          context, {.limit = defaults::links_shown, .subscriber = is_watcher ? 0 : actor.id}))
    watches = std::move(*inspection);
  out.begin_array("links");
  if (actor.parent != 0) append_link(out, "supervised by", name_of(context, actor.parent));
  if (is_watcher) {
    for (const auto& row : watches.rows)
      append_link(out, "watched by", name_of(context, row.subscriber));
  } else if (!watches.rows.empty()) {
    append_link(out, "watches", name_of(context, context.plane->core_actors().watcher.id()));
  }
  std::size_t shown = 0;
  context.actors().each([&](const runtime::actor_info& each) {
    if (each.parent == actor.id && ++shown <= defaults::links_shown)
      append_link(out, "supervises", full_name(each));
  });
  out.end_array();
  // The watcher does not know a joined node's actors: its gateway subscribes for all of them.
  if (is_watcher || context.plane == nullptr) return;
  out.begin_array("subscriptions");
  for (const auto& row : watches.rows) {
    out.begin_object();
    append_subscription(out, row);
    out.end_object();
  }
  out.end_array();
}

}  // namespace

view_result show_actor(const console_context& context, const query_string& query) {
  const auto found = find_actor(context, query.get_or("name", ""));
  if (!found) return api::fail(found.error());
  const auto detail = context.actors().detail(found->id);
  if (!detail) return api::fail(api::service_unavailable("the actor has just ended"));
  const auto& info = detail->info;
  const auto parent = info.parent == 0 ? std::nullopt : context.actors().find(info.parent);
  json_writer out;
  out.begin_object()
      .member("actor", full_name(info))
      .member("id", info.id)
      .member("supervisor", parent ? full_name(*parent) : std::string{})
      .member("node", context.node)
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
  append_inspection(out, context, info);
  append_links(out, context, info);
  append_messages(out, *detail);
  append_restarts(out, *detail);
  append_last_messages(out, context, info.id);
  out.end_object();
  return view_answer{out};
}

}  // namespace troupe::server
