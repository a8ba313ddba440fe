// One request to the REST API in progress: its target, the data needed to respond, and the
// obligation to respond. Owned by one thread at a time.
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "actors/write/admission/remarks.hpp"
#include "api/error.hpp"
#include "server/http/http.hpp"
#include "server/rest/answers/answers.hpp"
#include "server/rest/calls/services.hpp"
#include "server/rest/requests/options.hpp"
#include "server/rest/requests/route.hpp"

namespace troupe::server {

class call {
 public:
  call(rest_services& services, request_ptr request, responder to, const server::route& route,
       server::verb verb)
      : services{services},
        request{std::move(request)},
        route{route},
        verb{verb},
        to_{std::move(to)} {}

  rest_services& services;
  const request_ptr request;
  const server::route route;  // views into the request's path
  const server::verb verb;
  response_format form;
  included rows = included::metadata;

  const api::kind_info& kind() const noexcept { return *route.kind; }
  std::string key() const { return kind().key(route.ns, route.name); }
  // For the change log.
  persistence::change_cause cause() const;

  // Sent as Warning headers, without duplicates.
  void warn(const std::vector<std::string>& texts);
  // Remarks of admission: for the client, and for the audit log.
  void note(const actors::admission::remarks& remarks);

  // Exactly one of these is called, once.
  void answer(response with);
  void answer(int status, const api::object_ptr& object);
  // Responds with the Status "Success", about `about` if it is given.
  void succeed(int status, const api::object_ptr& about = {});
  void fail(const api::error& error);
  // Passes the obligation to respond to a stream; recorded with `status`.
  responder take_over(int status = 200);
  // Runs `work`, which responds, on the connection's thread (responder::run).
  void run(std::function<void()> work) const { to_.run(std::move(work)); }
  bool gone() const noexcept { return to_.gone(); }
  // Admission's annotations of the request, for the audit log.
  const std::map<std::string, std::string>& annotations() const noexcept { return annotations_; }

 private:
  void record(int status) const;

  responder to_;
  std::vector<std::string> warnings_;
  std::map<std::string, std::string> annotations_;
};

using call_ptr = std::shared_ptr<call>;

}  // namespace troupe::server
