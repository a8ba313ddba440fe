// The table of pods, with the status column.
#include <algorithm>
#include <array>

#include "api/tables/row_cells.hpp"

namespace troupe::api {
namespace {

using namespace core::v1;

// Summary of a pod's containers; restarts count from the latest.
struct summary {
  int ready = 0;
  int total = 0;
  std::int64_t restarts = 0;
  std::int64_t last_restart_seconds = 0;
  std::string status;
};

bool holds(const Pod& pod, std::string_view condition) {
  const auto& all = pod.status().conditions();
  return std::any_of(all.begin(), all.end(), [&](const auto& one) {
    return one.type() == condition && one.status() == "True";
  });
}

// Whether it is an init container that keeps running (a sidecar).
bool restartable(const Pod& pod, const std::string& name) {
  const auto& all = pod.spec().init_containers();
  return std::any_of(all.begin(), all.end(), [&](const auto& one) {
    return one.name() == name && one.restart_policy() == "Always";
  });
}

void count_restarts(summary& into, const ContainerStatus& status) {
  into.restarts += status.restart_count();
  if (status.last_state().has_terminated())
    into.last_restart_seconds = std::max(into.last_restart_seconds,
                                         status.last_state().terminated().finished_at().seconds());
}

std::string how_it_ended(const ContainerStateTerminated& end) {
  if (!end.reason().empty()) return end.reason();
  if (end.signal() != 0) return "Signal:" + std::to_string(end.signal());
  return "ExitCode:" + std::to_string(end.exit_code());
}

// Reads the init containers up to the first unfinished one. Returns true if there is one.
bool initializing(const Pod& pod, summary& all, summary& lasting) {
  for (int i = 0; i < pod.status().init_container_statuses_size(); ++i) {
    const auto& status = pod.status().init_container_statuses(i);
    const auto& state = status.state();
    count_restarts(all, status);
    const bool stays = restartable(pod, status.name());
    if (stays) count_restarts(lasting, status);
    if (state.has_terminated() && state.terminated().exit_code() == 0) continue;
    if (stays && status.started()) {
      if (status.ready()) ++lasting.ready;
      continue;
    }
    const auto& waiting = state.waiting().reason();
    if (state.has_terminated())
      all.status = "Init:" + how_it_ended(state.terminated());
    else if (!waiting.empty() && waiting != "PodInitializing")
      all.status = "Init:" + waiting;
    else
      all.status =
          "Init:" + std::to_string(i) + "/" + std::to_string(pod.spec().init_containers_size());
    return true;
  }
  return false;
}

void look_at_containers(const Pod& pod, summary& into) {
  bool running = false;
  const auto& statuses = pod.status().container_statuses();
  for (int i = statuses.size() - 1; i >= 0; --i) {
    const auto& state = statuses[i].state();
    count_restarts(into, statuses[i]);
    if (!state.waiting().reason().empty()) {
      into.status = state.waiting().reason();
    } else if (state.has_terminated()) {
      into.status = how_it_ended(state.terminated());
    } else if (statuses[i].ready() && state.has_running()) {
      running = true;
      ++into.ready;
    }
  }
  if (into.status == "Completed" && running)
    into.status = holds(pod, "Ready") ? "Running" : "NotReady";
}

summary summarize(const Pod& pod) {
  const auto& status = pod.status();
  summary all, lasting;
  all.status = status.reason().empty() ? status.phase() : status.reason();
  for (const auto& condition : status.conditions())
    if (condition.type() == "PodScheduled" && condition.reason() == "SchedulingGated")
      all.status = "SchedulingGated";
  if (!initializing(pod, all, lasting) || holds(pod, "Initialized")) {
    lasting.status = all.status;
    look_at_containers(pod, lasting);
    all = lasting;
  } else {
    all.ready = lasting.ready;
  }
  all.total = pod.spec().containers_size();
  for (const auto& container : pod.spec().init_containers())
    if (container.restart_policy() == "Always") ++all.total;
  if (pod.metadata().has_deletion_timestamp()) {
    if (status.reason() == "NodeLost")
      all.status = "Unknown";
    else if (status.phase() != "Succeeded" && status.phase() != "Failed")
      all.status = "Terminating";
  }
  return all;
}

std::string gates(const Pod& pod) {
  if (pod.spec().readiness_gates().empty()) return std::string(none_text);
  int open = 0;
  for (const auto& gate : pod.spec().readiness_gates())
    open += holds(pod, gate.condition_type());
  return std::to_string(open) + "/" + std::to_string(pod.spec().readiness_gates_size());
}

constexpr std::array<table_column, 9> columns = {
    table_column{"Name", "string", "Name of the pod, unique within its namespace."},
    table_column{"Ready", "string", "Containers that are ready, of all."},
    table_column{"Status", "string", "The pod's state, or the reason why it does not run."},
    table_column{"Restarts", "string", "How often containers were restarted, and when last."},
    table_column{"Age", "string", "Time since the pod was created."},
    table_column{"IP", "string", "Address of the pod.", 1},
    table_column{"Node", "string", "The node on which the pod runs.", 1},
    table_column{"Nominated Node", "string", "The node on which room is being made.", 1},
    table_column{"Readiness Gates", "string", "Further conditions that are met, of all.", 1}};

}  // namespace

const std::span<const table_column> pod_columns = columns;

void pod_cells(row_cells& into, const body& content) {
  const auto& pod = static_cast<const Pod&>(content);
  const auto sum = summarize(pod);
  auto restarts = std::to_string(sum.restarts);
  if (sum.restarts != 0 && sum.last_restart_seconds != 0)
    restarts += " (" + into.age_of(sum.last_restart_seconds) + " ago)";
  const auto& addresses = pod.status().pod_ips();
  into.text(pod.metadata().name())
      .text(std::to_string(sum.ready) + "/" + std::to_string(sum.total))
      .text(sum.status)
      .text(restarts)
      .age(pod.metadata())
      .text_or(addresses.empty() ? pod.status().pod_ip() : addresses[0].ip(), none_text)
      .text_or(pod.spec().node_name(), none_text)
      .text_or(pod.status().nominated_node_name(), none_text)
      .text(gates(pod));
}

std::string_view pod_row_conditions(const body& content) {
  const auto& pod = static_cast<const Pod&>(content);
  if (pod.status().phase() == "Succeeded")
    return R"([{"type":"Completed","status":"True","reason":"Succeeded","message":"The pod has completed successfully."}])";
  if (pod.status().phase() == "Failed")
    return R"([{"type":"Completed","status":"True","reason":"Failed","message":"The pod failed."}])";
  return {};
}

}  // namespace troupe::api
