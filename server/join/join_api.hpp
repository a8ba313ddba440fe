// The API for machines that join, renew their certificate and leave, and for the administrator's
// `troupe token create`, below /troupe/v1/ (docs/joining.md has the protocol):
//
//   POST node-certificates    {nodeName, certificateRequest} -> {certificate, ...}
//   POST control-planes       {nodeName} -> {clusterId, bundle}; the bundle is sealed
//   POST nodes/NAME/leave     {force} -> {state, left, pods}; repeated until the state is "gone"
//   GET  cluster              {clusterId, nodeName, apiAddress, authorityHash, etcdEndpoints, ...}
//
// A handler in front of the API and behind auth_filter; join_authorizer decides who may use it.
// Requests and responses are JSON objects of strings, errors are a Status. Thread safe.
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
  // HOST:PORT at which other machines reach the API.
  std::string api;
  // The API listens on loopback only: other machines cannot reach it.
  bool loopback = false;
  // This machine's node: the only one that the administrator may remove here.
  std::string node = {};
  // The access to etcd, if it has the cluster's state: comma-separated members, and file paths on
  // this machine.
  std::string etcd_endpoints = {}, etcd_authority = {}, etcd_certificate = {}, etcd_key = {};
};

class join_api final : public handler {
 public:
  // All arguments must outlive it. Requests for other paths go to `next`.
  join_api(rest_services& services, std::shared_ptr<const node_signer> signer, handler& next);
  ~join_api() override;

  // Until it is called, joining gets a 503.
  void addresses(join_addresses addresses);
  // The address of the link's listener, HOST:PORT; an empty host: the host of the request to the
  // API. An empty text: not listening yet, and a joining machine must retry.
  void link_address(std::string address);

  std::optional<response> admit(request& head) override;
  void serve(request_ptr request, responder answer) override;

 private:
  struct impl;
  const std::shared_ptr<impl> impl_;
};

}  // namespace troupe::server
