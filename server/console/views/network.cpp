// Explains the path of a connection to a service or a pod, optionally from a pod: the obstacles in
// the cluster's objects (actors/network/explain/path.hpp), and how often its rules were used.
#include <algorithm>
#include <array>
#include <set>

#include "actors/core/labels.hpp"
#include "actors/network/explain/path.hpp"
#include "actors/network/services/nft_process.hpp"
#include "api/schema/core_namespace.pb.h"
#include "api/schema/core_pod.pb.h"
#include "api/schema/core_service.pb.h"
#include "api/schema/discovery_v1.pb.h"
#include "api/schema/networking_policy.pb.h"
#include "api/scheme.hpp"
#include "server/console/views/views.hpp"

namespace troupe::server {
namespace {

using actors::network::path_question;
using actors::network::step_state;
using api::core::v1::Namespace;
using api::core::v1::Pod;
using api::core::v1::Service;
using api::discovery::v1::EndpointSlice;
using api::networking::v1::NetworkPolicy;

// The limit of objects of one kind that are examined.
constexpr std::size_t scan_limit = 20'000;
constexpr std::size_t last_port = 65'535;

std::vector<api::object_ptr> all_below(const persistence::snapshot& state,
                                       const std::string& prefix) {
  std::vector<api::object_ptr> out;
  state.scan(prefix, {}, [&](std::string_view, const api::object_ptr& found) {
    out.push_back(found);
    return out.size() < scan_limit;
  });
  return out;
}

api::expected<api::object_ptr> named(const persistence::snapshot& state, std::string_view text,
                                     bool may_be_service) {
  const auto name = parse_object_name(text);
  if (!name) return api::fail(name.error());
  const auto* kind = &*name->kind;
  if (kind != &api::kind_of<Pod>() && !(may_be_service && kind == &api::kind_of<Service>()))
    return api::fail(api::bad_request("\"" + std::string{text} + "\" is no " +
                                      (may_be_service ? "service and no pod" : "pod")));
  const auto found = state.find(name->key());
  if (!found) return api::fail(api::not_found(*name->kind, name->name));
  return found;
}

void add_service(path_question& to, const persistence::snapshot& state) {
  const auto& ns = to.to->meta().namespace_();
  to.pods = all_below(state, api::kind_of<Pod>().prefix(ns));
  for (const auto& slice : all_below(state, api::kind_of<EndpointSlice>().prefix(ns))) {
    if (actors::label_of(*slice, "kubernetes.io/service-name") == to.to->meta().name())
      to.slices.push_back(slice);
  }
}

void add_counts(path_question& to) {
  const auto nft = actors::services::find_nft();
  if (!nft) return;
  const auto rules = actors::network::rules_of(to);
  to.connections = actors::services::read_counts({*nft}, rules.all, rules.family);
}

void add_policies(path_question& to, const persistence::snapshot& state) {
  std::set<std::string> namespaces{to.to->meta().namespace_()};
  if (to.from) namespaces.insert(to.from->meta().namespace_());
  for (const auto& ns : namespaces)
    for (const auto& policy : all_below(state, api::kind_of<NetworkPolicy>().prefix(ns)))
      to.state.policies.push_back(policy);
  for (const auto& each : all_below(state, api::kind_of<Namespace>().prefix()))
    to.state.namespaces[each->meta().name()] = each;
}

std::string conclusion(const path_question& question, bool reaches) {
  const auto name = [](const api::object& object) {
    return object.meta().namespace_() + "/" + object.meta().name();
  };
  const auto subject = question.from ? name(*question.from) : std::string{"a connection"};
  return subject + (reaches ? " reaches " : " does not reach ") + name(*question.to);
}

}  // namespace

view_result show_network(const console_context& context, const query_string& query) {
  const auto state = context.store().read();
  path_question question;
  auto to = named(state, query.get_or("to", ""), true);
  if (!to) return api::fail(to.error());
  question.to = std::move(*to);
  if (const auto text = query.get_or("from", ""); !text.empty()) {
    auto from = named(state, text, false);
    if (!from) return api::fail(from.error());
    question.from = std::move(*from);
  }
  const auto port = number_of(query, "port", 0, last_port);
  if (!port) return api::fail(port.error());
  question.port = static_cast<std::uint32_t>(*port);
  question.protocol = query.get_or("protocol", "TCP");
  constexpr std::array<std::string_view, 3> protocols{"TCP", "UDP", "SCTP"};
  if (std::find(protocols.begin(), protocols.end(), question.protocol) == protocols.end())
    return api::fail(api::bad_request("the protocol is TCP, UDP or SCTP"));
  auto node = context.node;  // whose rules the connection uses
  if (&question.to->kind() == &api::kind_of<Service>()) {
    add_service(question, state);
    if (question.from) node = question.from->as<Pod>().spec().node_name();
    if (node == context.node) add_counts(question);
  }
  add_policies(question, state);
  const auto answer = actors::network::explain_path(question);
  json_writer out;
  out.begin_array();
  const auto row = [&](std::string_view part, step_state step, std::string_view text) {
    out.begin_object()
        .member("part", part)
        .member("state", actors::network::to_string(step))
        .member("what", text)
        .end_object();
  };
  for (const auto& each : answer.steps)
    row(each.part, each.state, each.text);
  if (node != context.node && !node.empty())
    row("rule", step_state::note,
        "connections are counted on node " + node + ": not known on this machine, " + context.node);
  row("answer", answer.reaches ? step_state::fine : step_state::blocks,
      conclusion(question, answer.reaches));
  out.end_array();
  return view_answer{out};
}

}  // namespace troupe::server
