// A rolling update that blocks (Kubernetes #985): replaces the pods of a ReplicationController one
// after the other, and waits after each until the desired number runs again.
//
// The state of the update is stored in the cluster, not here: the controller's template and its
// pods carry the mark of the update, and the controller is marked as being updated. An update that
// was interrupted, or whose client died, continues where it stopped when it is called again.
//
// Another image, or a template that was changed by hand meanwhile, starts a new update. Pods that
// equal the new template stay, so that a rollback replaces few.
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <tl/expected.hpp>

#include "tools/client/cluster_client.hpp"
#include "tools/client/wait.hpp"

namespace troupe::tools {

// On the controller during an update; on its template and the new pods permanently.
inline constexpr const char* rolling_update_mark = "troupe.dev/rolling-update";

struct rolling_update_options {
  std::string ns = "default";
  std::string controller;
  std::optional<std::string> image;  // for the template's only container
  std::string mark;                  // of a new update; unique
  // Kubernetes v0.2, kubecfg: -u is 60 s, and a count is polled every 5 s for at most 300 s.
  wait::duration update_period = std::chrono::seconds{60};
  wait::duration poll = std::chrono::seconds{5};
  wait::duration timeout = std::chrono::seconds{300};
};

// Blocks until the last pod has been replaced. `say` gets a line for each step. The error says why
// the update stopped and how to continue it.
tl::expected<void, std::string> rolling_update(cluster_client& cluster, wait::clock& time,
                                               const rolling_update_options& options,
                                               const std::function<void(std::string)>& say);

}  // namespace troupe::tools
