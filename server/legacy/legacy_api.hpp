// The v1beta1 API of 2014 over the same objects as the API of today. A handler behind open_filter:
// 2014 knew no users, so whoever reaches the listener may do everything.
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
// besides /proxy/minion/{id}/... of v0.2, /healthz and /version. Anything else is a 404 in plain
// text. Parameters: labels, fields, namespace ("default" when absent), sync, timeout; of watches
// resourceVersion. Thread safe.
#pragma once

#include "server/http/http.hpp"
#include "server/legacy/operations.hpp"
#include "server/rest/calls/services.hpp"

namespace troupe::server {

class legacy_api final : public handler {
 public:
  // Its arguments outlive it.
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
