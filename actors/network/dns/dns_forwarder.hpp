// Forwards queries to the node's resolvers. Each query has its own socket, and so a random port,
// and a random id: an attacker must guess both to forge an answer.
//
// All functions and callbacks run on the thread of the event loop.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <unordered_set>
#include <vector>

#include "actors/kubelet/os/event_loop.hpp"
#include "actors/network/dns/dns_message.hpp"
#include "actors/network/dns/dns_socket.hpp"

namespace troupe::actors::dns {

// A resolver's answer as bytes, and parsed.
struct resolver_answer {
  std::string bytes;
  resolved meaning;
};
// Null: no answer in time, or too many pending queries.
using resolver_done = std::function<void(const resolver_answer* answer)>;

// Called for each query, because the node's resolvers may change.
using resolver_list = std::function<std::vector<socket_address>()>;

class dns_forwarder {
 public:
  dns_forwarder(event_loop& loop, resolver_list resolvers)
      : loop_{loop}, resolvers_{std::move(resolvers)} {}
  ~dns_forwarder();

  // By TCP if the client used TCP: the answer may be too large for UDP.
  void ask(question asked, bool stream, resolver_done done);
  std::size_t under_way() const { return pending_.size(); }

 private:
  struct pending;
  using pending_ptr = std::shared_ptr<pending>;

  void attempt(const pending_ptr& p);
  void next(const pending_ptr& p);
  void wait_for(const pending_ptr& p, event_loop::readiness wanted);
  void ready(const pending_ptr& p);
  bool receive(const pending_ptr& p);
  void finish(const pending_ptr& p, const resolver_answer* answer);
  void close(pending& p);

  event_loop& loop_;
  const resolver_list resolvers_;
  std::unordered_set<pending_ptr> pending_;
};

}  // namespace troupe::actors::dns
