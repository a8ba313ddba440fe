// The controller of the APIServices of custom groups: one for each version of a group that any
// definition serves, labelled as managed. It restores a deleted or changed APIService, and removes
// it with the last definition of that version. It ignores an APIService without the label: a user
// created it.
//
// One actor for all definitions, because several may share a version. Its state comes from its
// watches only, so nothing has to survive a crash. It retries a write that conflicts or gets no
// answer. At most `defaults::registrations_at_once` writes are pending.
//
// kubernetes: pkg/controlplane/controller/crdregistration, kube-aggregator's autoregister.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "actors/core/core_actors.hpp"
#include "actors/core/informer.hpp"
#include "persistence/store/store.hpp"

namespace troupe::actors {

class api_service_registrar : public informer {
 public:
  // The store must outlive this actor.
  api_service_registrar(const persistence::store* store, core_actors core);

  const runtime::behavior& make_behavior() const override;
  void started() override;
  std::string describe() const override;

 private:
  void on_definitions(const watch_events& m);
  void on_api_services(const watch_events& m);

  void settle();
  // Returns false if no write is necessary.
  bool begin_write(const std::string& name);
  void commit_write(const std::string& name, persistence::transaction transaction);
  void written(const std::string& name, bool well, const std::string& reason);

  const persistence::store* store_;
  const core_actors core_;
  std::map<std::string, std::vector<std::string>> asked_;  // names of APIServices by definition
  std::map<std::string, std::size_t> wanted_;  // number of definitions by that name; never 0
  std::map<std::string, api::object_ptr> current_;
  std::set<std::string> dirty_, under_way_;  // names of APIServices
  runtime::timer again_;
  std::uint64_t failed_ = 0;
};

}  // namespace troupe::actors
