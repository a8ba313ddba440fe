// One request to the API of 2014 in progress. Owned by one thread at a time.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "server/legacy/shapes.hpp"
#include "server/rest/calls/call.hpp"

namespace troupe::server::legacy {

class operations;

// The target of a path: a kind of v1beta1, the hub's kind, a namespace, an
// id.
struct place {
  const api::kind_info* shape = nullptr;
  const api::kind_info* hub = nullptr;
  std::string ns;    // empty for cluster-scoped kinds
  std::string id;    // empty: the collection
  std::string name;  // the hub's name for the id
};

class legacy_call : public std::enable_shared_from_this<legacy_call> {
 public:
  legacy_call(rest_services& services, operations& pending, request_ptr request, responder to,
              place at, verb verb);

  rest_services& services;
  operations& pending;
  const request_ptr request;
  const place at;
  const dialect words;

  // The same request as a call of today's API, for the functions that do the work. They return
  // results: responses of that call are dropped.
  call_ptr today();
  std::string key() const { return at.hub->key(at.ns, at.name); }

  // Exactly one of these is called, once.
  void answer(int status, std::string json) const;
  void answer(response with) const;
  void fail(const api::error& error) const;
  // Runs `work` on the connection's thread (responder::run).
  void run(std::function<void()> work) const { to_.run(std::move(work)); }
  // Passes the obligation to respond to a stream or a waiting operation.
  responder take_over() const { return to_; }

 private:
  const responder to_;
  call today_;
};

using legacy_call_ptr = std::shared_ptr<legacy_call>;

// The dialect of the client that sent the request.
dialect dialect_of(const request& request);

}  // namespace troupe::server::legacy
