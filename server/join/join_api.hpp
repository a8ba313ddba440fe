// The requests of machines that join, renew their certificate and leave, and of the administrator's
// `troupe token create`, below /troupe/v1/ (docs/joining.md has the protocol):
//
//   POST node-certificates    {nodeName, certificateRequest} -> {certificate, ...}
//   POST nodes/NAME/leave     {force} -> {state, left, pods}; asked again until the state is "gone"
//   GET  cluster              {clusterId, apiAddress, authorityHash, ...}
//
// A handler that stands before the API, behind auth_filter: join_authorizer says who gets here.
// JSON objects of texts in and out, errors as Status. Thread safe.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "actors/control_plane/control_plane.hpp"
#include "server/http/http.hpp"
#include "server/join/node_signer.hpp"
#include "server/rest/calls/services.hpp"

namespace troupe::server {

// The addresses of the cluster.
struct join_addresses {
  // By which another machine calls the API: HOST:PORT.
  std::string api;
  // It listens on loopback alone: no other machine can.
  bool loopback = false;
};

class join_api final : public handler {
 public:
  // All given outlive it. Requests for other paths go to `next`.
  join_api(rest_services& services, std::shared_ptr<const node_signer> signer, handler& next);
  ~join_api() override;

  // Until then joining is answered with 503.
  void addresses(join_addresses addresses);
  // Where the link listens, HOST:PORT; an empty host: the one by which the API was called. Empty:
  // it does not listen yet, and a machine that joins is asked to come again.
  void link_address(std::string address);

  std::optional<response> admit(request& head) override;
  void serve(request_ptr request, responder answer) override;

 private:
  struct impl;
  const std::shared_ptr<impl> impl_;
};

}  // namespace troupe::server
