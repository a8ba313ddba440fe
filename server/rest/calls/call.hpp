// One request on its way through the REST API: what it asks, what is needed to answer it, and the
// duty to answer. Held by whoever works on it; handed from thread to thread, one at a time.
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
  wanted_form form;
  included rows = included::metadata;

  const api::kind_info& kind() const noexcept { return *route.kind; }
  std::string key() const { return kind().key(route.ns, route.name); }
  // For the log of changes.
  persistence::change_cause cause() const;

  // Sent as Warning headers, each once.
  void warn(const std::vector<std::string>& texts);
  // Of admission: to the client, and to the audit log.
  void note(const actors::admission::remarks& remarks);

  // One of these is called once.
  void answer(response with);
  void answer(int status, const api::object_ptr& object);
  // Status "Success"; where an object is given, about it.
  void succeed(int status, const api::object_ptr& about = {});
  void fail(const api::error& error);
  // Leaves the duty to whoever streams; counts as answered with `status`.
  responder take_over(int status = 200);
  // Runs `work`, which answers, on the thread of the connection (responder::run).
  void run(std::function<void()> work) const { to_.run(std::move(work)); }
  bool gone() const noexcept { return to_.gone(); }
  // What admission says about the request, for the audit log.
  const std::map<std::string, std::string>& annotations() const noexcept { return annotations_; }

 private:
  void record(int status) const;

  responder to_;
  std::vector<std::string> warnings_;
  std::map<std::string, std::string> annotations_;
};

using call_ptr = std::shared_ptr<call>;

}  // namespace troupe::server
