// Watches the config maps, secrets and claims that this node's pods reference, and the services of
// their namespaces: one stream for each while a worker needs it. The kubelet may run on another
// machine than the store and sees only the secrets of its pods.
//
// One actor, child of the kubelet. Workers repeat their keys with every sync; after a crash of this
// actor they have their objects again within `kubelet_defaults::pod_resync`.
#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "actors/core/informer.hpp"

namespace troupe::actors {

// From a worker: all keys that it needs from now on; a key that ends with a slash means all objects
// below it. Newly needed and changed objects are sent by `reference_event`.
struct need_references {
  std::vector<std::string> keys;
};

using object_list = std::vector<api::object_ptr>;

// To a worker: the newest state; null if there is no such object.
struct reference_event {
  std::string key;
  api::object_ptr object = nullptr;
  std::shared_ptr<const object_list> list = nullptr;  // all below `key`; null: one object
};

class references : public informer {
 public:
  explicit references(runtime::actor_ref watcher) : informer{std::move(watcher)} {}

  const runtime::behavior& make_behavior() const override;
  void started() override;
  std::string describe() const override;

 private:
  struct user {
    std::set<std::string> keys;
    runtime::time_point last_heard{};
  };
  struct entry {
    stream id = 0;
    bool known = false;
    api::object_ptr object;
    std::map<std::string, api::object_ptr> below = {};  // by key
    std::vector<runtime::actor_ref> users;
  };
  static reference_event event_of(const std::string& key, const entry& of);

  void on_need_references(const need_references& m);
  void on_object(const std::string& key, const watch_events& m);
  void use(const std::string& key, const runtime::actor_ref& user);
  void drop(const std::string& key, const runtime::actor_ref& user);
  void sweep();

  std::unordered_map<runtime::actor_ref, user> users_;
  std::unordered_map<std::string, entry> entries_;
  runtime::timer sweep_;
};

}  // namespace troupe::actors
