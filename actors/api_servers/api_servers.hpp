// The actor that keeps the record of this control plane alive where several serve one cluster, and
// lists those that live in default/kubernetes (docs/decisions/0071-several-servers.md).
//
// Each control plane runs one, whoever leads. All of them write the same list from the same
// records, so it does not matter which is first; a write that another one was faster with is made
// again from the newer state. It owns what it has counted of the others' renewals: after a crash
// a dead one is found a few seconds later.
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
  // What this control plane tells of itself now; thread safe, must not block.
  std::function<api_server_record()> own;
};

// An actor ends some time after it was told to; what it calls may be gone by then. Held for a
// moment by the actor, and by who ends it.
struct api_servers_end {
  std::mutex mutex;
  bool ended = false;
};

class api_servers : public runtime::actor {
 public:
  // Store and service outlive it, what `options` calls does until the end.
  api_servers(const persistence::store* store, write_service* writes, api_servers_options options,
              std::shared_ptr<api_servers_end> end);

  const runtime::behavior& make_behavior() const override;
  void started() override;
  std::string describe() const override;

 private:
  void look();
  void renew();
  void renew_record();
  void publish();
  void write(write_proposal propose);

  const persistence::store* store_;
  write_service* writes_;
  const api_servers_options options_;
  const std::shared_ptr<api_servers_end> end_;
  api_server_watch watch_;
  api_server_record told_;
  api_server_watch::found found_;
  // Writes whose answer has not come; shared with what the service calls.
  const std::shared_ptr<std::atomic<int>> under_way_ = std::make_shared<std::atomic<int>>(0);
  runtime::timer look_, renewal_;
};

// The actor, and the end of the record with it.
class api_server_registration {
 public:
  // All given outlive it.
  api_server_registration(runtime::actor_system& system, const persistence::store& store,
                          write_service& writes, api_servers_options options);
  // Takes the record and the address out of the lists; waits for that, but not longer than
  // `api_server_defaults::withdrawal_wait`. Not in an actor.
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
