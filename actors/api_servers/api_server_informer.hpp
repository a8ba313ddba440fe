// Runs on a joined node: reports the control planes listed in the Endpoints default/kubernetes
// whenever the list changes. It has no other state.
#pragma once

#include <functional>

#include "actors/api_servers/api_server_record.hpp"
#include "actors/core/informer.hpp"
#include "runtime/actor_system.hpp"

namespace troupe::actors {

class api_server_informer : public informer {
 public:
  // Called in the actor; must not block. Never called with an empty list, which only means that the
  // control planes publish no records.
  using callback = std::function<void(const api_server_records&)>;

  api_server_informer(runtime::actor_ref watcher, callback on_change);

  const runtime::behavior& make_behavior() const override;
  void started() override;
  std::string describe() const override;

 private:
  void on_endpoints(const watch_events& m);

  const callback on_change_;
  api_server_records last_;
};

runtime::actor_ref follow_api_servers(runtime::actor_system& system, runtime::actor_ref watcher,
                                      api_server_informer::callback on_change);

}  // namespace troupe::actors
