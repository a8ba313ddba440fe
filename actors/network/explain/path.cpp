#include "actors/network/explain/path.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "actors/core/pod_health.hpp"
#include "actors/network/services/endpoint_choice.hpp"
#include "actors/network/services/service_elements.hpp"
#include "api/schema/core_pod.pb.h"
#include "api/schema/core_service.pb.h"
#include "api/schema/discovery_v1.pb.h"
#include "api/scheme.hpp"
#include "api/selectors/selector.hpp"
#include "api/values/service_spec.hpp"

namespace troupe::actors::network {
namespace {

using api::core::v1::Pod;
using api::core::v1::Service;
using api::core::v1::ServicePort;
using api::discovery::v1::EndpointSlice;
using policies::connection_end;
using policies::direction;
using policies::policy_pod;

// Maximum number of rules and endpoints shown; a service may have thousands.
constexpr std::size_t most_shown = 50;

std::string name_of(const api::object& object) {
  return object.meta().namespace_() + "/" + object.meta().name();
}

std::string joined(const std::vector<std::string>& words) {
  return fmt::format("{}", fmt::join(words, ", "));
}

// Why a pod cannot be an endpoint; empty: it can.
std::string problem_of(const api::object& object) {
  const auto& pod = object.as<Pod>();
  const auto& status = pod.status();
  if (pod.spec().node_name().empty()) return "is bound to no node yet";
  if (is_terminated(pod)) return fmt::format("has ended ({})", status.phase());
  if (pod.metadata().has_deletion_timestamp()) return "is terminating";
  for (const auto& each : status.container_statuses())
    if (const auto& waiting = each.state().waiting(); !waiting.reason().empty())
      return fmt::format("waits: container {}: {}", each.name(), waiting.reason());
  if (status.pod_ip().empty()) return "has no address yet";
  return is_ready(pod) ? std::string{} : "is not ready";
}

// The first of its families: the other one has the same endpoints.
const services::address_family& family_of(const Service& service) {
  const bool v6 = !service.spec().ip_families().empty() && service.spec().ip_families(0) == "IPv6";
  return v6 ? services::family_v6 : services::family_v4;
}

// The caller's node decides which endpoints are used.
services::node_place place_of(const path_question& question) {
  services::node_place place;
  if (question.from) place.name = question.from->as<Pod>().spec().node_name();
  return place;
}

class explanation {
 public:
  explicit explanation(const path_question& question) : asked_{question} {}

  path_answer run() {
    if (asked_.from) look_at_caller();
    if (&asked_.to->kind() == &api::kind_of<Service>())
      look_at_service(asked_.to->as<Service>());
    else
      look_at_pod(asked_.to, asked_.port);
    return std::move(answer_);
  }

 private:
  void say(std::string part, step_state state, std::string text) {
    answer_.steps.push_back({std::move(part), state, std::move(text)});
  }

  void look_at_caller() {
    const auto problem = problem_of(*asked_.from);
    const bool runs = !asked_.from->as<Pod>().status().pod_ip().empty();
    say("from", runs ? step_state::note : step_state::blocks,
        fmt::format("pod {} {}", name_of(*asked_.from), problem.empty() ? "is ready" : problem));
    caller_runs_ = runs;
  }

  // -- a service ----------------------------------------------------------------------------------

  void look_at_service(const Service& service) {
    const auto& spec = service.spec();
    if (spec.type() == "ExternalName")
      return say("service", step_state::note,
                 fmt::format("is a name for {}: nothing of this cluster stands between",
                             spec.external_name()));
    const bool headless = api::is_headless(spec);
    say("service", step_state::fine,
        headless ? std::string{"headless: its name has the addresses of its endpoints"}
                 : fmt::format("{} at {}", spec.type(), spec.cluster_ip()));
    std::vector<const ServicePort*> ports;
    std::vector<std::string> all;
    for (const auto& each : spec.ports()) {
      all.push_back(fmt::format("{}/{}", each.port(), each.protocol()));
      const bool wanted =
          asked_.port == 0 || (static_cast<std::uint32_t>(each.port()) == asked_.port &&
                               each.protocol() == asked_.protocol);
      if (wanted) ports.push_back(&each);
    }
    look_at_selector(service);
    if (ports.empty() && !headless)
      return say("port", step_state::blocks,
                 fmt::format("{}/{} is none of its ports ({}): refused", asked_.port,
                             asked_.protocol, joined(all)));
    for (const auto* port : ports)
      look_at_port(service, *port);
    if (!headless) show_rules();
  }

  void look_at_selector(const Service& service) {
    if (service.spec().selector().empty())
      return say("selector", step_state::note, "none: its endpoints are made by hand");
    const auto selector = api::label_selector::from(service.spec().selector());
    std::size_t selected = 0;
    for (const auto& pod : asked_.pods) {
      if (!selector.matches(pod->meta().labels())) continue;
      if (++selected > most_shown) continue;
      if (const auto problem = problem_of(*pod); !problem.empty())
        say("pod", step_state::note, fmt::format("{} {}", name_of(*pod), problem));
    }
    say("selector", selected == 0 ? step_state::blocks : step_state::fine,
        fmt::format("{} selects {} pods of namespace {}", selector.str(), selected,
                    service.metadata().namespace_()));
  }

  void look_at_port(const Service& service, const ServicePort& port) {
    const auto place = place_of(asked_);
    const auto chosen =
        services::choose_endpoints(service, port, asked_.slices, place, family_of(service));
    const auto name = fmt::format("port {}/{}", port.port(), port.protocol());
    if (!chosen.any)
      return say("endpoints", step_state::blocks,
                 fmt::format("{}: no endpoint is ready: refused", name));
    if (chosen.internal.empty())
      return say("endpoints", step_state::blocks,
                 fmt::format("{}: internalTrafficPolicy is Local, and no endpoint is on node {}: "
                             "dropped",
                             name, place.name));
    say("endpoints", step_state::fine, fmt::format("{}: {}", name, chosen.internal.size()));
    std::size_t shown = 0;
    for (const auto& each : chosen.internal) {
      if (++shown > most_shown) return;
      const auto* pod = pod_at(each.address);
      say("endpoint", step_state::fine,
          fmt::format("{}:{}{}", each.address, each.port,
                      pod != nullptr ? ", pod " + name_of(**pod) : ", no pod of this namespace"));
      if (pod != nullptr)
        look_at_policies(*pod, each.address, static_cast<std::uint32_t>(each.port),
                         port.protocol());
      else
        answer_.reaches = answer_.reaches || caller_runs_;
    }
  }

  const api::object_ptr* pod_at(const std::string& address) const {
    const auto found = std::find_if(asked_.pods.begin(), asked_.pods.end(), [&](const auto& pod) {
      const auto& status = pod->template as<Pod>().status();
      return status.pod_ip() == address ||
             std::any_of(status.pod_ips().begin(), status.pod_ips().end(),
                         [&](const auto& each) { return each.ip() == address; });
    });
    return found == asked_.pods.end() ? nullptr : &*found;
  }

  void show_rules() {
    std::size_t shown = 0;
    for (const auto& [key, data] : rules_of(asked_).all) {
      if (services::is_own(key) || ++shown > most_shown) continue;
      auto text =
          fmt::format("{} {}{}{}", key.collection, key.key, data.empty() ? "" : " : ", data);
      if (const auto counted = asked_.connections.find(key); counted != asked_.connections.end())
        text += fmt::format(", {} connections on this machine", counted->second);
      say("rule", step_state::fine, std::move(text));
    }
  }

  // -- a pod --------------------------------------------------------------------------------------

  void look_at_pod(const api::object_ptr& pod, std::uint32_t port) {
    const auto problem = problem_of(*pod);
    const auto& address = pod->as<Pod>().status().pod_ip();
    say("pod", address.empty() ? step_state::blocks : step_state::note,
        fmt::format("{} {}", name_of(*pod), problem.empty() ? "is ready at " + address : problem));
    if (!address.empty()) look_at_policies(pod, address, port, asked_.protocol);
  }

  void look_at_policies(const api::object_ptr& to, const std::string& address, std::uint32_t port,
                        const std::string& protocol) {
    const auto& family = api::ip_family(address) == services::family_v6.name ? services::family_v6
                                                                             : services::family_v4;
    const auto target = end_of(to, family);
    std::optional<policy_pod> caller;
    if (asked_.from) caller = end_of(asked_.from, family);
    policies::connection connection{.family = &family, .protocol = protocol, .port = port};
    connection.to = {target ? &*target : nullptr,
                     policies::parse_address(address, family).value_or(0)};
    if (caller) connection.from = {&*caller, caller->address};
    bool admitted = true;
    if (asked_.from) admitted = evaluate(direction::egress, asked_.from, caller, connection);
    if (asked_.from || !target) {
      admitted = evaluate(direction::ingress, to, target, connection) && admitted;
    } else {
      name_policies(connection);
    }
    answer_.reaches = answer_.reaches || (admitted && caller_runs_);
  }

  static std::optional<policy_pod> end_of(const api::object_ptr& pod,
                                          const services::address_family& family) {
    const auto address = policies::own_address(*pod, family);
    if (!address) return std::nullopt;
    return policy_pod{pod, *address, true};
  }

  bool evaluate(direction side, const api::object_ptr& pod, const std::optional<policy_pod>& end,
                const policies::connection& connection) {
    const std::string part{policies::to_string(side)};
    if (!end) {
      say(part, step_state::note,
          fmt::format("pod {} has no address of its own: policies hold nothing", name_of(*pod)));
      return true;
    }
    const auto answer = policies::evaluate(asked_.state, side, connection);
    if (answer.selected_by.empty()) {
      say(part, step_state::fine, fmt::format("no policy selects pod {}", name_of(*pod)));
    } else if (answer.admitted_by) {
      say(part, step_state::fine,
          fmt::format("pod {}: admitted by policy {}, rule {}", name_of(*pod),
                      answer.admitted_by->policy, answer.admitted_by->index));
    } else {
      say(part, step_state::blocks,
          fmt::format("pod {}: no rule admits it: dropped; selected by {}", name_of(*pod),
                      joined(answer.selected_by)));
    }
    return answer.admits();
  }

  // Without a client pod no connection can be evaluated: only names the policies.
  void name_policies(const policies::connection& connection) {
    const auto answer = policies::evaluate(asked_.state, direction::ingress, connection);
    if (!answer.selected_by.empty())
      say("ingress", step_state::note,
          "admits what these policies admit: " + joined(answer.selected_by));
  }

  const path_question& asked_;
  path_answer answer_;
  bool caller_runs_ = true;
};

}  // namespace

std::string_view to_string(step_state state) {
  switch (state) {
    case step_state::fine:
      return "ok";
    case step_state::note:
      return "note";
    case step_state::blocks:
      return "blocks";
  }
  return {};
}

service_rules rules_of(const path_question& question) {
  const auto& family = family_of(question.to->as<Service>());
  return {family, services::elements_of(*question.to, question.slices, place_of(question), family)};
}

path_answer explain_path(const path_question& question) {
  return explanation{question}.run();
}

}  // namespace troupe::actors::network
