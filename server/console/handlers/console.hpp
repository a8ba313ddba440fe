// The console's back end: what a person sees of the actors, at /console/api/ as JSON
// (docs/console.md lists the paths), the page at /console/, and the metrics at /metrics. A handler
// that stands before the API, behind auth_filter: only who may read these paths gets here.
//
// Views are made on threads of their own; a full queue is a 503. Nothing here keeps state of its
// own but samples for rates. Thread safe.
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
  std::shared_ptr<other_nodes> others = nullptr;  // where nodes can join
};

class console final : public handler {
 public:
  // Both outlive it. What is not the console's goes to `next`.
  console(actors::control_plane& plane, handler& next, console_options options);
  ~console() override;

  // For rest_options::observe: counts requests, remembers those that change something.
  void observe(const request_record& record);
  // Where the figures of the transport come from, once it runs. What was given before is not called
  // any more when this returns: give nothing before the transport goes.
  void transport(std::function<http_stats()> from);
  // Likewise for the listener that joined nodes call.
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
