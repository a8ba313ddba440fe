// Keeps the APIServices that definitions of custom kinds ask for: one for each version of a group
// that any definition serves, labelled as managed. One that is deleted or changed comes back; it
// goes with the last definition of its version. An APIService of that name without the label is
// somebody's own and left alone.
//
// One actor for all of them, for several definitions may share a version. What it knows comes from
// its streams and is found again after a crash. A write that conflicts, or gets no answer, is tried
// again. No more than `defaults::registrations_at_once` writes are under way.
//
// kubernetes: pkg/controlplane/controller/crdregistration, kube-aggregator's autoregister.
#pragma once

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
  // The store must outlive it.
  api_service_registrar(const persistence::store* store, core_actors core);

  const runtime::behavior& make_behavior() const override;
  void started() override;
  std::string describe() const override;

 private:
  void on_definitions(const watch_events& m);
  void on_api_services(const watch_events& m);

  void settle();
  // False where nothing is to be done.
  bool begin_write(const std::string& name);
  void commit_write(const std::string& name, persistence::transaction transaction);
  void written(const std::string& name, bool well);

  const persistence::store* store_;
  const core_actors core_;
  std::map<std::string, std::vector<std::string>> asked_;  // of APIServices, by definition
  std::map<std::string, std::size_t> wanted_;              // by how many definitions; never 0
  std::map<std::string, api::object_ptr> current_;
  std::set<std::string> dirty_, under_way_;  // names of APIServices
  runtime::timer again_;
};

}  // namespace troupe::actors
