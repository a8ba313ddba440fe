// Base class of actors that derive state from the cluster's Services and their EndpointSlices on
// every node. It works with the store and with a gateway.
//
// Changes within a few milliseconds are applied together; the first time after the initial lists.
#pragma once

#include <map>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "actors/core/informer.hpp"

namespace troupe::actors {

struct known_service {
  api::object_ptr service;                        // null: only its slices are known
  std::map<std::string, api::object_ptr> slices;  // by key

  std::vector<api::object_ptr> slice_list() const;
};

class service_informer : public informer {
 protected:
  using informer::informer;

  // For `started()` of the derived class, whose behavior must have the handlers of `informer`.
  void follow_services();
  const std::map<std::string, known_service>& services() const { return services_; }

  // Applies all services again, because another input of the derived state has changed.
  void apply_all();
  // Calls `apply` soon, also without a changed service: the derived class has other input.
  void apply_others();
  // Applies the changes after a short delay; the first time when all streams are synced.
  void schedule_apply();

  // `changed`: "NAMESPACE/NAME" of each, which may be deleted. The first call has all services.
  virtual void apply(const std::set<std::string>& changed) = 0;

 private:
  void on_services(const watch_events& m);
  void on_slices(const watch_events& m);
  void drop_slice(const std::string& key);
  void apply_now();

  std::map<std::string, known_service> services_;
  std::unordered_map<std::string, std::string> service_of_;  // by the slice's key
  std::set<std::string> changed_;
  bool applied_ = false, others_changed_ = false;
  runtime::timer apply_;
};

}  // namespace troupe::actors
