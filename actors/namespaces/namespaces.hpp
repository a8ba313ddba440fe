// The namespace controller: creates the system namespaces and each namespace's default
// ServiceAccount, and empties a deleted namespace before it is removed.
//
// Admission (namespace_lifecycle.cpp) rejects creations in a terminating namespace, with a
// precondition on the namespace: once it is marked, no new object can be created in it.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>

#include "actors/write/content_deleter.hpp"

namespace troupe::actors {

class namespaces : public content_deleter {
 public:
  // The store must outlive it.
  namespaces(const persistence::store* store, core_actors core);

  const runtime::behavior& make_behavior() const override;
  void started() override;
  std::string describe() const override;

 private:
  stage survey(const persistence::snapshot& state, const api::object& of,
               std::size_t limit) const override;
  bool waits(const api::object& of) const override;

  void on_namespaces(const watch_events& m);
  void on_accounts(const watch_events& m);

  void ensure_system();
  void ensure_account(const std::string& ns);
  void create(const api::kind_info& kind, std::unique_ptr<api::body> content,
              std::function<void()> again);
  void retry_later(const std::string& key, std::function<void()> again);

  struct retry {
    runtime::timer timer;
    runtime::duration pause{0};
  };
  std::map<std::string, retry> retries_;  // by key of the object whose creation failed
};

}  // namespace troupe::actors
