// The actor that renews the record of this control plane in a cluster with several API servers, and
// lists the live ones in default/kubernetes (docs/decisions/0071-several-servers.md).
//
// Each control plane runs one, leading or not. All write the same list from the same records, so
// their order does not matter; after a conflict a write is decided again from the newer state: a
// record that was renewed since it was judged dead stays. Its state is the count of the others'
// renewals: after a crash a dead one is detected a few seconds later.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <string>

#include "actors/api_servers/api_server_record.hpp"
#include "actors/api_servers/api_server_writes.hpp"
#include "persistence/store/store.hpp"
#include "runtime/actor.hpp"
#include "runtime/actor_system.hpp"

namespace troupe::actors {

struct api_servers_options {
  // Returns the current record of this control plane; thread safe, must not block.
  std::function<api_server_record()> own;
};

// Guards the callback of the options: the actor may still run after it was told to stop, when its
// callees are gone. Locked briefly by the actor, and by the owner that sets `ended`.
struct api_servers_end {
  std::mutex mutex;
  bool ended = false;
};

class api_servers : public runtime::actor {
 public:
  // Store and service must outlive the actor, the callees of `options` until `ended` is set.
  api_servers(const persistence::store* store, write_service* writes, api_servers_options options,
              std::shared_ptr<api_servers_end> end);

  const runtime::behavior& make_behavior() const override;
  void started() override;
  std::string describe() const override;

 private:
  void check();
  void renew();
  void renew_record();
  void publish();
  void write(write_proposal propose);

  const persistence::store* store_;
  write_service* writes_;
  const api_servers_options options_;
  const std::shared_ptr<api_servers_end> end_;
  api_server_watch watch_;
  api_server_record own_record_;
  api_server_watch::found found_;
  // Writes in flight; shared with the callbacks of the service.
  const std::shared_ptr<std::atomic<int>> under_way_ = std::make_shared<std::atomic<int>>(0);
  runtime::timer check_timer_, renewal_;
};

// Owns the actor and removes the record at the end.
class api_server_registration {
 public:
  // All arguments must outlive it.
  api_server_registration(runtime::actor_system& system, const persistence::store& store,
                          write_service& writes, api_servers_options options);
  // Withdraws the record and the address from the lists; waits for that at most
  // `api_server_defaults::withdrawal_wait`. Must not run in an actor.
  ~api_server_registration();
  api_server_registration(const api_server_registration&) = delete;
  api_server_registration& operator=(const api_server_registration&) = delete;

 private:
  runtime::actor_system& system_;
  const persistence::store& store_;
  write_service& writes_;
  const std::string name_;
  const std::shared_ptr<api_servers_end> end_ = std::make_shared<api_servers_end>();
  const runtime::actor_ref actor_;
};

}  // namespace troupe::actors
