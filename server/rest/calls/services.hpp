// The services that the handlers of the REST API share.
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
  // Decides what reviews (`kubectl auth can-i`) answer; null: everything is allowed.
  const authorization* permissions = nullptr;
  // Whose keys are published; null: none.
  std::shared_ptr<const account_tokens> accounts = {};
  // Whom TokenReview asks; null: it answers that it cannot.
  const token_reviewer* reviewer = nullptr;
  // Where the logs of this machine's containers come from; null: nowhere.
  std::shared_ptr<actors::log_source> logs = {};
  // The same for commands in them, consoles and ports.
  std::shared_ptr<actors::stream_source> streams = {};
  // Shown to the servers of aggregated APIs; null: nothing is.
  std::shared_ptr<const server::front_proxy> front_proxy = {};
  // Kinds of which this cluster does what the warnings of their rows say it does not.
  std::set<const api::kind_info*> enforced = {};
  // Told of each request when it is answered, on the thread that answers: for metrics.
  std::function<void(const request_record&)> observe = {};
};

struct rest_services {
  rest_services(actors::control_plane& plane, rest_options options)
      : plane{plane}, options{std::move(options)} {}

  persistence::snapshot read() const { return plane.store().read(); }

  actors::control_plane& plane;
  const rest_options options;
  // What other servers serve; set before the first request.
  std::shared_ptr<aggregation> aggregated = {};
  frame_cache frames;
  // Work between two writes of one request, off the commit thread.
  runtime::worker_pool retries{"rest-retry", 1, defaults::retry_queue};
};

}  // namespace troupe::server
