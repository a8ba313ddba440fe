// The members of the cluster and their contents, the store, the watchers, the loggers.
#include <spdlog/spdlog.h>

#include <algorithm>
#include <map>

#include "actors/control_plane/leading_actors.hpp"
#include "actors/controllers/registry.hpp"
#include "actors/defaults.hpp"
#include "actors/pods/pod_counts.hpp"
#include "api/schema/coordination_v1.pb.h"
#include "api/schema/core_node.pb.h"
#include "api/scheme.hpp"
#include "server/console/views/sampler.hpp"
#include "server/console/views/views.hpp"
#include "server/console/views/watches.hpp"
#include "server/http/version.hpp"

namespace troupe::server {
namespace {

using api::coordination::v1::Lease;
using api::core::v1::Node;

std::string ready_of(const Node& node) {
  for (const auto& condition : node.status().conditions())
    if (condition.type() == "Ready") return condition.status();
  return "Unknown";
}

std::string roles_of(const Node& node) {
  constexpr std::string_view label = "node-role.kubernetes.io/";
  std::string roles;
  for (const auto& [name, value] : node.metadata().labels())
    if (name.starts_with(label)) roles += (roles.empty() ? "" : ",") + name.substr(label.size());
  return roles;
}

// The counts of the pods' supervisor. It follows the log, so it may be some revisions behind, and
// reports its revision. Nullopt if it does not answer in time.
std::optional<actors::pod_counts> count_pods(const console_context& context) {
  const auto supervisor = context.actors().find("supervisor", "pods");
  if (!supervisor) return std::nullopt;
  return ask<actors::pod_counts>(context, supervisor, actors::count_pods{});
}

// Seconds since the node's lease was renewed; negative if it has none.
double lease_age(const persistence::snapshot& state, const std::string& node) {
  const auto found =
      state.find(api::kind_of<Lease>().key(actors::defaults::node_lease_namespace, node));
  if (!found) return -1;
  const auto renewed = found->as<Lease>().spec().renew_time();
  const auto now =
      std::chrono::duration<double>{std::chrono::system_clock::now().time_since_epoch()}.count();
  return now - static_cast<double>(renewed.seconds()) - static_cast<double>(renewed.nanos()) / 1e9;
}

void append_nodes(json_writer& out, const persistence::snapshot& state,
                  const std::optional<actors::pod_counts>& counted) {
  std::unordered_map<std::string_view, std::size_t> pods;
  if (counted) pods.insert(counted->by_node.begin(), counted->by_node.end());
  out.begin_array("nodes");
  std::size_t count = 0;
  state.scan(api::kind_of<Node>().prefix(), {},
             [&](std::string_view, const api::object_ptr& found) {
               const auto& node = found->as<Node>();
               const auto& name = node.metadata().name();
               const auto mine = pods.find(name);
               out.begin_object()
                   .member("node", name)
                   .member("ready", ready_of(node))
                   .member("roles", roles_of(node))
                   .member("cordoned", node.spec().unschedulable())
                   .member("taints", node.spec().taints_size())
                   .member("version", node.status().node_info().kubelet_version());
               if (counted) out.member("pods", mine == pods.end() ? 0 : mine->second);
               if (const auto age = lease_age(state, name); age >= 0)
                 out.member("leaseSeconds", age);
               out.end_object();
               return ++count < defaults::rows_limit;
             });
  out.end_array();
}

void append_objects(json_writer& out, const persistence::snapshot& state) {
  out.begin_array("objects");
  for (const auto* kind : api::scheme::instance().all()) {
    if (!kind->stored()) continue;
    if (const auto count = state.count(kind->prefix()); count > 0)
      out.begin_object()
          .member("resource", kind->qualified_plural())
          .member("count", count)
          .end_object();
  }
  out.end_array();
}

void append_controllers(json_writer& out, const persistence::snapshot& state) {
  out.begin_array("controllers");
  for (const auto& type : actors::known_controllers())
    for (const auto& owner : type.owners)
      out.begin_object()
          .member("controller", type.name)
          .member("of", owner.kind->kind())
          .member("objects", state.count(owner.kind->prefix()))
          .member("keeps", type.purpose)
          .end_object();
  out.end_array();
}

// None of these actors runs here while another control plane leads.
void append_leading(json_writer& out, const runtime::directory& live) {
  out.begin_array("leading");
  for (const auto& each : actors::leading_actors())
    out.begin_object()
        .member("actor", each.kind + "/" + each.name)
        .member("running", static_cast<bool>(live.find(each.kind, each.name)))
        .member("does", each.purpose)
        .end_object();
  out.end_array();
}

// Nothing if there are no other control planes.
void append_leader(json_writer& out, const std::optional<persistence::leadership>& leader) {
  if (!leader) return;
  if (leader->term == 0) {
    out.member("leader", "nobody");
  } else {
    const auto age = std::chrono::system_clock::now() - leader->since;
    out.member("leader", leader->node)
        .member("leadsHere", leader->is_here)
        .member("term", leader->term)
        .member("leadsSeconds", std::chrono::duration<double>{age}.count());
  }
  out.member("leaderChanges", leader->changes);
  if (!leader->reason.empty()) out.member("lastLeader", leader->reason);
}

void append_links(json_writer& out, const sampler::pair& samples) {
  out.begin_array("links");
  for (const auto& now : samples.now->links) {
    const auto& past = samples.before->links;
    const auto found =
        std::find_if(past.begin(), past.end(), [&](const auto& l) { return l.node == now.node; });
    const auto before = found == past.end() ? node_link{} : *found;
    out.begin_object()
        .member("node", now.node)
        .member("peer", now.peer)
        .member("connected", now.connected)
        .member("ageSeconds", now.age)
        .member("inPerSecond", samples.per_second(now.messages_in, before.messages_in))
        .member("outPerSecond", samples.per_second(now.messages_out, before.messages_out))
        .member("inBytes", now.bytes_in)
        .member("outBytes", now.bytes_out)
        .member("queuedBytes", now.queued_bytes)
        .end_object();
  }
  out.end_array();
}

}  // namespace

void append_subscription(json_writer& out, const actors::watch_report::row& row) {
  out.member("watches", readable_key(row.prefix))
      .member("onNode", row.on_node)
      .member("live", row.live)
      .member("position", row.position)
      .member("behind", row.behind)
      .member("credit", row.credit);
}

view_result show_cluster(const console_context& context, const query_string&) {
  const auto samples = context.samples.look();
  const auto& before = samples.before;
  const auto& now = samples.now;
  const auto state = context.store().read();
  json_writer out;
  out.begin_object()
      .member("cluster", context.store().cluster_id())
      .member("controlPlane", context.node)
      .member("version", program_version())
      .member("upSeconds", runtime::duration{std::chrono::system_clock::now() - context.started})
      .member("revision", state.at())
      .member("actors", context.actors().size())
      .member("messagesPerSecond", samples.per_second(now->handled, before->handled))
      .member("transactionsPerSecond",
              samples.per_second(now->store.transactions, before->store.transactions))
      .member("requestsPerSecond", samples.per_second(now->http.requests, before->http.requests));
  append_leader(out, now->store.leader);
  const auto counted = count_pods(context);
  if (counted) {
    auto unbound = counted->pods;
    for (const auto& [node, pods] : counted->by_node)
      unbound -= pods;
    out.member("podsCountedAt", counted->at).member("podsWithoutNode", unbound);
  }
  append_nodes(out, state, counted);
  append_links(out, samples);
  append_leading(out, context.actors());
  append_controllers(out, state);
  append_objects(out, state);
  out.end_object();
  return view_answer{out};
}

view_result show_watchers(const console_context& context, const query_string& query) {
  const auto count = number_of(query, "top", defaults::rows_shown, defaults::rows_limit);
  if (!count) return api::fail(count.error());
  const auto report = ask_watcher(context, {.limit = *count});
  if (!report) return api::fail(api::service_unavailable("the watcher did not answer in time"));
  json_writer out;
  out.begin_array();
  for (const auto& row : report->rows) {
    out.begin_object().member("subscriber", name_of(context, row.subscriber));
    append_subscription(out, row);
    out.end_object();
  }
  out.end_array();
  return view_answer{out, report->streams};
}

view_result show_store(const console_context& context, const query_string&) {
  const auto stats = context.store().stats();
  json_writer out;
  out.begin_object()
      .member("revision", stats.current)
      .member("compacted", stats.compacted)
      .member("logRevisions", stats.log_revisions)
      .member("objects", stats.objects)
      .member("objectBytes", stats.object_bytes)
      .member("logBytes", stats.log_bytes)
      .member("transactions", stats.transactions)
      .member("conflicts", stats.conflicts)
      .member("batches", stats.batches)
      .member("queued", stats.queued)
      .member("lastSyncSeconds", stats.last_sync)
      .member("syncP50Seconds", stats.sync_p50)
      .member("syncP99Seconds", stats.sync_p99)
      .member("readOnly", stats.read_only)
      .member("logLimitBytes", stats.log_limit_bytes)
      .member("diskBytes", stats.disk_bytes)
      .member("diskFreeBytes", stats.disk_free_bytes)
      .member("lowSpace", stats.low_space)
      .member("logFull", stats.log_full)
      .end_object();
  return view_answer{out};
}

view_result show_log(const console_context&, const query_string&) {
  std::map<std::string, std::string> levels;
  spdlog::apply_all([&](const std::shared_ptr<spdlog::logger>& each) {
    levels[each->name().empty() ? "default" : each->name()] = level_text(each->level());
  });
  json_writer out;
  out.begin_array();
  for (const auto& [name, level] : levels)
    out.begin_object().member("logger", name).member("level", level).end_object();
  out.end_array();
  return view_answer{out};
}

}  // namespace troupe::server
