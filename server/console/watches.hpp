// What the watcher says of its subscribers.
#pragma once

#include <optional>

#include "actors/watch_report.hpp"
#include "server/console/context.hpp"

namespace troupe::server {

// Nothing when it does not answer in time, or where there is none.
inline std::optional<actors::watch_report> ask_watcher(const console_context& in,
                                                       actors::report_watches what) {
  if (in.plane == nullptr) return std::nullopt;
  return ask<actors::watch_report>(in, in.plane->doors().watcher, what);
}

// The members that tell of one subscription (cluster_views.cpp).
void append_subscription(json_writer& out, const actors::watch_report::row& row);

}  // namespace troupe::server
