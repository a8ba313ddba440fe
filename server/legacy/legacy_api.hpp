// The v1beta1 API of 2014 over the objects of today's API. A handler behind open_filter: 2014 had
// no users, so every client may do everything.
//
//   GET    /api/v1beta1/{resource}            list
//   GET    /api/v1beta1/{resource}/{id}       get
//   POST   /api/v1beta1/{resource}            create
//   PUT    /api/v1beta1/{resource}/{id}       update
//   DELETE /api/v1beta1/{resource}/{id}       delete
//   GET    /api/v1beta1/watch/{resource}[/{id}]
//   GET    /api/v1beta1/redirect/services/{id}
//   GET    /api/v1beta1/operations[/{id}]
//   GET    /api/v1beta1/proxy/minions/{id}/...    see minion_proxy.hpp
//
// and /proxy/minion/{id}/... of v0.2, /healthz and /version. Other paths get a plain text 404.
// Parameters: labels, fields, namespace (default "default"), sync, timeout; for watches
// resourceVersion. Thread safe.
#pragma once

#include "server/http/http.hpp"
#include "server/legacy/operations.hpp"
#include "server/rest/calls/services.hpp"

namespace troupe::server {

class legacy_api final : public handler {
 public:
  // The arguments must outlive it.
  explicit legacy_api(rest_services& services);
  ~legacy_api() override;

  void serve(request_ptr request, responder answer) override;

 private:
  void serve_resource(request_ptr request, responder answer,
                      const std::vector<std::string_view>& parts);

  rest_services& services_;
  legacy::operations pending_;
};

}  // namespace troupe::server
