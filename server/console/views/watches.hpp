// The subscribers of the watcher.
#pragma once

#include <optional>

#include "actors/watch/watch_report.hpp"
#include "server/console/context/context.hpp"

namespace troupe::server {

// Nullopt if it does not answer in time, or there is none.
inline std::optional<actors::watch_report> ask_watcher(const console_context& context,
                                                       actors::report_watches report) {
  if (context.plane == nullptr) return std::nullopt;
  return ask<actors::watch_report>(context, context.plane->core_actors().watcher, report);
}

// Appends the members that describe a subscription (cluster_views.cpp).
void append_subscription(json_writer& out, const actors::watch_report::row& row);

}  // namespace troupe::server
