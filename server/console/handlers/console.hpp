// The back end of the console: views of the actors at /console/api/ as JSON (docs/console.md lists
// the paths), the page at /console/, and the metrics at /metrics. A handler in front of the API and
// behind auth_filter: only users who may read these paths reach it.
//
// Views run on their own threads; if their queue is full the response is 503. The only state is
// samples for rates. Thread safe.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "actors/control_plane/control_plane.hpp"
#include "runtime/link/refusal.hpp"
#include "server/connections/http_server.hpp"
#include "server/console/context/remote.hpp"
#include "server/http/http.hpp"

namespace troupe::server {

struct refusal;
struct request_record;

struct console_options {
  std::string node;  // the name of this machine, as the console shows it
  std::shared_ptr<other_nodes> others = nullptr;  // set if nodes can join
};

class console final : public handler {
 public:
  // Both must outlive it. Requests for other paths go to `next`.
  console(actors::control_plane& plane, handler& next, console_options options);
  ~console() override;

  // For rest_options::observe: counts requests, and logs writes.
  void observe(const request_record& record);
  // Sets the source of the transport's figures. When this returns, the previous source is no longer
  // called: pass an empty one before the transport is destroyed.
  void transport(std::function<http_stats()> from);
  // The same for the listener of joined nodes.
  void link_listener(std::function<runtime::link::listener_stats()> from);
  // For http_options::observe_refusal.
  void refused(const refusal& refusal);

  std::optional<response> admit(request& head) override;
  void serve(request_ptr request, responder answer) override;

 private:
  struct impl;
  std::unique_ptr<impl> impl_;
};

}  // namespace troupe::server
