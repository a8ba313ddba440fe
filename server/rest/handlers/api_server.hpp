// The REST API of Kubernetes over a control plane: discovery, OpenAPI, and the verbs on every kind
// of the schema. A handler behind auth_filter, which knows the user and keeps the limits.
//
// Reads are answered at once from a snapshot of the store on the thread of the connection. Writes
// begin there, go through the write service, and are answered when they are on disk. Watches are
// actors of kind "watch". Thread safe; keeps no state of its own.
#pragma once

#include <string>
#include <tl/expected.hpp>

#include "actors/control_plane/control_plane.hpp"
#include "server/http/http.hpp"
#include "server/rest/calls/services.hpp"

namespace troupe::server {

class api_server final : public handler {
 public:
  // The control plane outlives the server.
  explicit api_server(actors::control_plane& plane, rest_options options = {});
  ~api_server() override;

  // The objects of every cluster that no client creates (system_objects.hpp). Returns when it is on
  // disk; the error says why it cannot be.
  tl::expected<void, std::string> create_system_objects();

  void serve(request_ptr request, responder answer) override;

  // For other APIs over the same objects; lives as long as this.
  rest_services& services() noexcept { return services_; }

 private:
  rest_services services_;
};

}  // namespace troupe::server
