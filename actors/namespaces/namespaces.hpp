// Looks after namespaces: those of the system exist, each has its default ServiceAccount, and one
// that is deleted is emptied before it goes.
//
// Creations in a namespace that ends are refused by admission (admission.hpp), under a precondition
// on the namespace itself: once it is marked, nothing new slips in.
#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>

#include "actors/core/core_actors.hpp"
#include "actors/core/informer.hpp"
#include "actors/defaults.hpp"
#include "persistence/store/store.hpp"

namespace troupe::actors {

class namespaces : public informer {
 public:
  // The store must outlive it.
  namespaces(const persistence::store* store, core_actors core);

  const runtime::behavior& make_behavior() const override;
  void started() override;
  std::string describe() const override;

 private:
  // A namespace that ends: that one, not another of its name.
  struct ending {
    std::string uid = {};
    std::size_t in_flight = 0;
    bool refused = false;  // one of those in flight
    runtime::duration pause = defaults::namespace_first_pause;
    runtime::timer again = {};
  };

  void on_namespaces(const watch_events& m);
  void on_accounts(const watch_events& m);

  void ensure_system();
  void ensure_account(const std::string& ns);
  void create(const api::kind_info& kind, std::unique_ptr<api::body> content,
              std::function<void()> again);

  // Null: it does not end any more.
  ending* find(const std::string& ns, const std::string& uid);
  void empty(const std::string& ns, const std::string& uid);
  void remove_content(const std::string& ns, const std::string& uid, const api::object& object);
  void conclude(const std::string& ns, const api::object& object, std::unique_ptr<api::body> next);
  void empty_later(const std::string& ns, const std::string& uid);

  const persistence::store* store_;
  core_actors core_;
  std::map<std::string, ending> endings_;
  std::map<std::string, runtime::timer> retries_;  // by key of what could not be created
};

}  // namespace troupe::actors
