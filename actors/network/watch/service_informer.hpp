// The Services of the cluster, each with its EndpointSlices, for an actor that derives something
// from them on every node. It works over the store and over a gateway alike.
//
// What changes within a few milliseconds is handed on together; nothing is before all is known.
#pragma once

#include <map>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "actors/core/informer.hpp"

namespace troupe::actors {

struct known_service {
  api::object_ptr service;                        // null: only slices are there
  std::map<std::string, api::object_ptr> slices;  // by key

  std::vector<api::object_ptr> slice_list() const;
};

class service_informer : public informer {
 protected:
  using informer::informer;

  // For `started()` of the derived class, whose table of handlers has those of `informer`.
  void follow_services();
  const std::map<std::string, known_service>& services() const { return services_; }

  // All are handed on again: what is derived from them depends on something else that has changed.
  void apply_all();
  // Hands on what has changed, after a moment; the first time when all streams are known.
  void apply_soon();

  // `changed`: by "NAMESPACE/NAME"; one of these may be gone. The first call has all.
  virtual void apply(const std::set<std::string>& changed) = 0;

 private:
  void on_services(const watch_events& m);
  void on_slices(const watch_events& m);
  void drop_slice(const std::string& key);
  void apply_now();

  std::map<std::string, known_service> services_;
  std::unordered_map<std::string, std::string> service_of_;  // by the key of the slice
  std::set<std::string> changed_;
  bool applied_ = false;
  runtime::timer apply_;
};

}  // namespace troupe::actors
