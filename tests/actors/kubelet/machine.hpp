// A kubelet on real threads with real processes, an in-memory store and the two core_actors: the
// base of tests of a pod's life on a machine. It ends all its pods.
#pragma once

#include <chrono>
#include <filesystem>
#include <functional>
#include <memory>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "actors/control_plane/control_plane.hpp"
#include "actors/kubelet/node/kubelet.hpp"
#include "api/object/object.hpp"
#include "api/schema/core_pod.pb.h"
#include "api/scheme.hpp"
#include "persistence/store/store.hpp"
#include "runtime/actor_system.hpp"
#include "support/scratch_folder.hpp"

namespace troupe::test {

class machine {
 public:
  machine();
  ~machine();

  // -- as a client --------------------------------------------------------------------------------

  // One object as YAML, in namespace "default"; a pod is bound to this machine.
  api::object_ptr create(std::string_view yaml);
  template <class T>
  api::object_ptr change(const std::string& name, const std::function<void(T&)>& edit) {
    const auto& kind = api::kind_of<T>();
    return change_key(kind.key(kind.namespaced() ? "default" : "", name),
                      [&](api::body& b) { edit(static_cast<T&>(b)); });
  }
  // A DELETE; a grace below 0 means the pod's own.
  void remove(const std::string& pod, std::int64_t grace_seconds = -1);

  std::uint64_t request = 0;  // the id of the next requests

  // -- looking ------------------------------------------------------------------------------------

  // Null if there is none.
  api::object_ptr find(const std::string& pod) const;
  api::object_ptr volume(const std::string& name) const;
  api::object_ptr node_object() const;
  api::core::v1::PodStatus status(const std::string& pod) const;
  // Oldest first.
  std::vector<persistence::change> changes(const std::string& pod) const;
  // Messages of a pod's events with that reason, one for each occurrence.
  std::vector<std::string> events(const std::string& pod, const std::string& reason) const;
  // Returns false if the condition did not become true within `limit`.
  static bool wait(const std::function<bool()>& done,
                   std::chrono::seconds limit = std::chrono::seconds{60});
  bool runs(const std::string& pod, bool ready = true) const;
  bool ended(const std::string& pod) const;

  const std::filesystem::path& root() const { return root_; }
  std::filesystem::path pod_dir(const std::string& pod) const;
  // The text of a container's log, without times.
  std::string log(const std::string& pod, const std::string& container = "c",
                  int attempt = 0) const;

  // -- the kubelet --------------------------------------------------------------------------------

  void start_kubelet();
  // As if the node is killed: containers keep running.
  void stop_kubelet();
  // Makes its actor throw, so it restarts. `before` changes its Node: this is the last event that
  // it handles, and it does not see the result. What `after` sends to it waits for its next life.
  void crash_kubelet(const std::function<void()>& before = {},
                     const std::function<void()>& after = {});
  runtime::actor_system& system() { return *system_; }
  std::function<void(actors::kubelet_options&)> adjust;
  // The runtime of the next kubelet; null: processes.
  std::shared_ptr<actors::container_runtime> containers;
  std::string boot_id;  // id of the machine's boot, for the runtime; empty: the real one

 private:
  std::vector<api::object_ptr> list(const std::string& prefix) const;
  api::object_ptr change_key(const std::string& key, const std::function<void(api::body&)>& edit);
  api::object_ptr commit(persistence::transaction transaction);

  scratch_folder folder_;
  std::filesystem::path root_;
  std::unique_ptr<persistence::store> store_;
  std::unique_ptr<runtime::actor_system> system_;
  std::unique_ptr<actors::control_plane> plane_;
  // Part of uids: they name control groups, which tests running in parallel must not share.
  std::mt19937_64 random_{std::random_device{}()};
};

std::string text_of(const std::filesystem::path& file);

}  // namespace troupe::test
