// The REST API of Kubernetes on top of a control plane: discovery, OpenAPI, and the verbs on all
// kinds of the schema. A handler behind auth_filter, which sets the user and enforces the limits.
//
// Reads are answered at once from a snapshot of the store, on the connection's thread. Writes start
// there, go through the write service, and are answered when they are on disk. Watches are actors
// of kind "watch". Thread safe and stateless.
#pragma once

#include <string>
#include <tl/expected.hpp>

#include "actors/control_plane/control_plane.hpp"
#include "server/http/http.hpp"
#include "server/rest/calls/services.hpp"

namespace troupe::server {

class api_server final : public handler {
 public:
  // The control plane must outlive the server.
  explicit api_server(actors::control_plane& plane, rest_options options = {});
  ~api_server() override;

  // Creates the objects of every cluster (system_objects.hpp). Returns when they are on disk; the
  // error is the reason why not.
  tl::expected<bool, std::string> create_system_objects();

  void serve(request_ptr request, responder answer) override;

  // For other APIs over the same objects; lives as long as this server.
  rest_services& services() noexcept { return services_; }

 private:
  rest_services services_;
};

}  // namespace troupe::server
