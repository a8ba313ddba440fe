#include "actors/control_plane/controller_selection.hpp"

#include <algorithm>
#include <array>

#include "actors/control_plane/leading_actors.hpp"

namespace troupe::actors {
namespace {

struct alias {
  std::string_view upstream, name;
};

// Upstream's names of our controllers with the same function (kubernetes:
// cmd/kube-controller-manager/names, and the names before 1.28).
constexpr std::array aliases{
    alias{"namespace-controller", "namespaces"},
    alias{"namespace", "namespaces"},
    alias{"garbage-collector-controller", "garbage-collector"},
    alias{"garbagecollector", "garbage-collector"},
    alias{"node-lifecycle-controller", "minions"},
    alias{"nodelifecycle", "minions"},
    alias{"clusterrole-aggregation-controller", "role-aggregator"},
    alias{"clusterrole-aggregation", "role-aggregator"},
    alias{"resourcequota-controller", "quota-status"},
    alias{"resourcequota", "quota-status"},
    alias{"token-cleaner-controller", "token-cleaner"},
    alias{"tokencleaner", "token-cleaner"},
    alias{"deployment-controller", "deployments"},
    alias{"deployment", "deployments"},
    alias{"statefulset-controller", "stateful_sets"},
    alias{"statefulset", "stateful_sets"},
    alias{"daemonset-controller", "daemon_sets"},
    alias{"daemonset", "daemon_sets"},
    alias{"job-controller", "jobs"},
    alias{"job", "jobs"},
    alias{"cronjob-controller", "cron_jobs"},
    alias{"cronjob", "cron_jobs"},
    alias{"disruption-controller", "disruption"},
    alias{"persistentvolume-binder-controller", "volume-binder"},
    alias{"persistentvolume-binder", "volume-binder"},
    alias{"root-ca-certificate-publisher-controller", "root_ca"},
    alias{"root-ca-cert-publisher", "root_ca"},
};

// The scheduler has its own switch.
constexpr std::string_view scheduler_kind = "scheduler";

std::string_view without_minus(std::string_view entry) {
  return entry.starts_with('-') ? entry.substr(1) : entry;
}

}  // namespace

const std::vector<std::string>& controller_names() {
  static const auto names = [] {
    std::vector<std::string> made;
    for (const auto& each : leading_actors())
      if (each.kind != scheduler_kind) made.push_back(each.name);
    std::sort(made.begin(), made.end());
    return made;
  }();
  return names;
}

std::string_view find_controller(std::string_view name) {
  const auto& names = controller_names();
  const auto own = std::find(names.begin(), names.end(), name);
  if (own != names.end()) return *own;
  const auto found = std::find_if(aliases.begin(), aliases.end(),
                                  [&](const alias& each) { return each.upstream == name; });
  return found == aliases.end() ? std::string_view{} : found->name;
}

std::vector<std::string> unknown_controllers(const std::vector<std::string>& list) {
  std::vector<std::string> unknown;
  for (const auto& entry : list)
    if (entry != "*" && find_controller(without_minus(entry)).empty()) unknown.push_back(entry);
  return unknown;
}

bool is_selected(const std::vector<std::string>& list, std::string_view name) {
  const auto found = std::find_if(list.begin(), list.end(), [&](const std::string& entry) {
    return entry != "*" && find_controller(without_minus(entry)) == name;
  });
  if (found != list.end()) return !found->starts_with('-');
  return std::find(list.begin(), list.end(), "*") != list.end();
}

}  // namespace troupe::actors
