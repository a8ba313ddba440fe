// The services shared by the handlers of the REST API.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <set>
#include <string>

#include "actors/control_plane/control_plane.hpp"
#include "runtime/worker_pool.hpp"
#include "server/rest/answers/frames.hpp"
#include "server/rest/defaults.hpp"

namespace troupe::actors {
class log_source;
class stream_source;
}  // namespace troupe::actors

namespace troupe::server {

struct aggregation;
class account_tokens;
class authorization;
class front_proxy;
class token_reviewer;
struct request_record;

struct rest_options {
  // Decides the results of reviews (`kubectl auth can-i`); null: everything is allowed.
  const authorization* permissions = nullptr;
  // Provides the published keys; null: none.
  std::shared_ptr<const account_tokens> accounts = {};
  // Used by TokenReview; null: its responses report that tokens cannot be reviewed.
  const token_reviewer* reviewer = nullptr;
  // The logs of this machine's containers; null: none.
  std::shared_ptr<actors::log_source> logs = {};
  // The same for commands, consoles and ports.
  std::shared_ptr<actors::stream_source> streams = {};
  // The client certificate for servers of aggregated APIs; null: none.
  std::shared_ptr<const server::front_proxy> front_proxy = {};
  // Kinds that are enforced although their rows have a warning that they are not.
  std::set<const api::kind_info*> enforced = {};
  // Called with each answered request, on the answering thread: for metrics.
  std::function<void(const request_record&)> observe = {};
};

struct rest_services {
  rest_services(actors::control_plane& plane, rest_options options)
      : plane{plane}, options{std::move(options)} {}

  persistence::snapshot read() const { return plane.store().read(); }

  actors::control_plane& plane;
  const rest_options options;
  // The aggregated APIs; set before the first request.
  std::shared_ptr<aggregation> aggregated = {};
  frame_cache frames;
  // Runs retries of writes outside the commit thread.
  runtime::worker_pool retries{"rest-retry", 1, defaults::retry_queue};
  // Rebuilds earlier states of the store, for lists.
  runtime::worker_pool rebuilds{"rest-history", 1, defaults::rebuild_queue};
};

}  // namespace troupe::server
