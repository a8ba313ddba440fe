#include "server/rest/logs/logs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "actors/link/defaults.hpp"
#include "api/schema/core_pod.pb.h"
#include "api/scheme.hpp"
#include "api/values/integer.hpp"
#include "api/values/timestamp.hpp"
#include "runtime/actor_system.hpp"
#include "server/rest/calls/pod_containers.hpp"
#include "server/rest/logs/log_session.hpp"

namespace troupe::server {

namespace {

using api::core::v1::ContainerStatus;
using api::core::v1::Pod;

// The id of the requested run; empty: none has begun. A container that waits for a restart shows
// its last run.
//
// kubernetes: pkg/kubelet/kubelet_pods.go, validateContainerLogStatus.
std::string run_of(const ContainerStatus* status, bool previous) {
  if (status == nullptr) return {};
  const auto& last = status->last_state().terminated().container_id();
  const auto& state = status->state();
  if (previous) return last;
  if (state.has_running()) return status->container_id();
  const auto& ended = state.terminated().container_id();
  return ended.empty() ? last : ended;
}

// The reason for a missing log, according to the pod's status.
api::error no_log(const Pod& pod, const std::string& container, const ContainerStatus* status) {
  const auto& name = pod.metadata().name();
  if (pod.spec().node_name().empty())
    return api::bad_request(fmt::format("pod {} does not have a host assigned", name));
  if (status != nullptr && (status->state().has_running() || status->state().has_terminated()))
    return api::bad_request(
        fmt::format("container \"{}\" in pod \"{}\" has no log: its node {} keeps none", container,
                    name, pod.spec().node_name()));
  std::string reason = "there is no log yet";
  if (status != nullptr && !status->state().waiting().reason().empty())
    reason = status->state().waiting().reason();
  return api::bad_request(fmt::format("container \"{}\" in pod \"{}\" is waiting to start: {}",
                                      container, name, reason));
}

// The number in a query parameter; 400 if it is invalid or below `least`.
api::expected<std::optional<std::int64_t>> number(const query_string& query, const char* name,
                                                  std::int64_t least) {
  const auto text = query.get(name);
  if (!text) return std::nullopt;
  const auto value = api::parse_integer<std::int64_t>(*text);
  if (!value || *value < least)
    return api::fail(api::bad_request(
        fmt::format("{} must be a whole number of at least {}, not \"{}\"", name, least, *text)));
  return *value;
}

// The time of the first requested line, in the log's format; empty: all lines.
api::expected<std::string> since(const query_string& query) {
  const auto moment = query.get_or("sinceTime", "");
  const auto seconds = number(query, "sinceSeconds", 1);
  if (!seconds) return api::fail(seconds.error());
  if (moment.empty() && !*seconds) return std::string{};
  if (!moment.empty() && *seconds)
    return api::fail(api::bad_request("at most one of sinceTime and sinceSeconds may be given"));
  if (moment.empty()) {
    using namespace std::chrono;
    const auto now = system_clock::now().time_since_epoch();
    const auto whole_seconds = floor<std::chrono::seconds>(now);
    return api::format_nano_time(
        {whole_seconds.count() - std::min(**seconds, whole_seconds.count()),
         static_cast<std::int32_t>(nanoseconds{now - whole_seconds}.count())});
  }
  const auto parsed = api::parse_time(moment);
  if (!parsed)
    return api::fail(api::bad_request(
        fmt::format("sinceTime must be a moment as \"2006-01-02T15:04:05Z\", not \"{}\"", moment)));
  return api::format_nano_time(*parsed);
}

api::expected<actors::log_query> read_query(const query_string& query) {
  actors::log_query result;
  result.timestamps = query.flag("timestamps");
  const auto tail = number(query, "tailLines", 0);
  const auto limit = number(query, "limitBytes", 1);
  for (const auto* each : {&tail, &limit})
    if (!*each) return api::fail(each->error());
  result.tail_lines = *tail;
  result.limit_bytes = *limit;
  auto moment = since(query);
  if (!moment) return api::fail(moment.error());
  result.since = std::move(*moment);
  return result;
}

}  // namespace

void get_log(const call_ptr& call) {
  const auto found = call->services.read().find(call->key());
  if (!found) return call->fail(api::not_found(call->kind(), call->route.name));
  const auto& pod = found->as<Pod>();
  const auto& query = call->request->query;
  auto container = container_named(pod, query.get_or("container", ""));
  if (!container) return call->fail(container.error());
  auto options = read_query(query);
  if (!options) return call->fail(options.error());
  const auto* status = status_of(pod, *container);
  const bool previous = query.flag("previous");
  const auto run = run_of(status, previous);
  if (previous && run.empty())
    return call->fail(
        api::bad_request(fmt::format("previous terminated container \"{}\" in pod \"{}\" not found",
                                     *container, pod.metadata().name())));
  const auto none = [&] { return no_log(pod, *container, status); };
  actors::open_log log{.id = call->request->id,
                       .node = pod.spec().node_name(),
                       .from = {pod.metadata().uid(), *container, run},
                       .query = *options,
                       .follow = query.flag("follow"),
                       .credit = actors::link_defaults::log_credit};
  const bool joined = on_joined_node(*call, pod);
  const auto& logs = call->services.options.logs;
  if (run.empty() || (!joined && !logs)) return call->fail(none());
  call->services.plane.system().spawn(
      {.kind = "log",
       .name = fmt::format("{}/{}/{:x}", call->route.ns, call->route.name, call->request->id),
       .restart = false},
      runtime::make<log_session>(call, std::move(log), joined ? nullptr : logs, none()));
}

bool run_ended(const call& call, const actors::open_log& log) {
  const auto found = call.services.read().find(call.key());
  if (!found || found->meta().uid() != log.from.pod_uid) return true;
  const auto* status = status_of(found->as<Pod>(), log.from.container);
  return status == nullptr || !status->state().has_running() ||
         status->container_id() != log.from.id;
}

}  // namespace troupe::server
