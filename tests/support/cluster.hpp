// A whole control plane in one thread, with virtual time and a seed, on a store in memory: the
// local one, or one whose newest state is remote. For scenario tests of controllers. Its helpers do
// the API server's work for a client, without HTTP: defaults, identity, admission.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "actors/control_plane/control_plane.hpp"
#include "api/object/object.hpp"
#include "api/scheme.hpp"
#include "persistence/store/store.hpp"
#include "runtime/simulation.hpp"
#include "support/remote_store.hpp"

namespace troupe::test {

struct cluster_options {
  actors::control_plane_options plane = {};
  // History length of the store's log; set it small to force compaction.
  persistence::revision history_revisions = 100'000;
  // The store keeps only the weak guarantee (remote_store.hpp). Its pending work advances when one
  // of its messages is handled, in the order of the seed, and before each read and each write of a
  // client: clients see the same as with the local store.
  bool far = false;
  // Probability, at each write of an actor, that a remote writer has just changed that object.
  double foreign = 0.05;
  // Probability, at each of those messages, that no work advances.
  double lag = 0.7;
};

class cluster {
 public:
  explicit cluster(std::uint64_t seed, cluster_options options = {});
  ~cluster();

  runtime::simulation& simulation() noexcept { return *simulation_; }
  persistence::store& store() const noexcept { return *store_; }
  actors::control_plane& plane() noexcept { return *plane_; }

  // -- as a client --------------------------------------------------------------------------------

  // Errors are those of the API. Name and namespace ("default" if empty) are in the body.
  // the body.
  api::expected<api::object_ptr> try_create(std::unique_ptr<api::body> content);
  template <class T>
  api::object_ptr create(const T& content) {
    return must(try_create(std::unique_ptr<api::body>{std::make_unique<T>(content)}));
  }
  // One document of YAML.
  api::object_ptr create_yaml(std::string_view text);

  // Reads, edits, writes; the object must exist. Returns the new state.
  template <class T, class F>
  api::object_ptr change(const std::string& ns, const std::string& name, F edit) {
    const auto old = find<T>(ns, name);
    auto content = must(old)->template copy_as<T>();
    edit(*content);
    return must(replace(old, std::move(content)));
  }

  // A DELETE. With `grace_seconds` below 0 or `propagation` empty, the default of the kind applies.
  template <class T>
  void remove(const std::string& ns, const std::string& name, std::int64_t grace_seconds = -1,
              const std::string& propagation = {}) {
    remove_key(api::kind_of<T>().key(ns, name), grace_seconds, propagation);
  }

  // -- looking ------------------------------------------------------------------------------------

  // Null if there is none. The namespace of cluster-scoped kinds is empty.
  template <class T>
  api::object_ptr find(const std::string& ns, const std::string& name) const {
    catch_up();
    return store_->read().find(api::kind_of<T>().key(ns, name));
  }
  template <class T>
  T get(const std::string& ns, const std::string& name) const {
    return must(find<T>(ns, name))->template as<T>();
  }
  // Sorted by name; of all namespaces if `ns` is empty.
  template <class T>
  std::vector<api::object_ptr> list(const std::string& ns = {}) const {
    return list_prefix(api::kind_of<T>().prefix(ns));
  }
  template <class T>
  std::size_t count(const std::string& ns = {}) const {
    catch_up();
    return store_->read().count(api::kind_of<T>().prefix(ns));
  }

  // Delivers everything that is in transit to or from a remote store.
  void catch_up() const;

  // -- time and faults ----------------------------------------------------------------------------

  // False if the condition did not become true within `limit` of virtual time.
  bool run_until(const std::function<bool()>& done,
                 runtime::duration limit = std::chrono::seconds{60});
  runtime::wall_time now() const;
  void advance(runtime::duration by) { simulation_->advance(by); }
  void settle() { simulation_->settle(); }

  // Makes the actor throw at its next message (one is sent); it is restarted after its back-off.
  void crash(const std::string& kind, const std::string& name);
  runtime::actor_ref actor(const std::string& kind, const std::string& name) const;

 private:
  template <class P>
  static P must(P pointer) {
    require(pointer != nullptr, "the object exists");
    return pointer;
  }
  static api::object_ptr must(api::expected<api::object_ptr> result);
  static void require(bool holds, const std::string& condition);

  api::expected<api::object_ptr> replace(const api::object_ptr& old,
                                         std::unique_ptr<api::body> content);
  void remove_key(const std::string& key, std::int64_t grace_seconds,
                  const std::string& propagation);
  api::expected<api::object_ptr> commit(persistence::transaction transaction,
                                        const api::kind_info& kind, const std::string& name);
  std::vector<api::object_ptr> list_prefix(const std::string& prefix) const;

  std::unique_ptr<persistence::store> open_store(const cluster_options& options,
                                                 std::uint64_t seed);

  remote_store* far_ = nullptr;
  // The actors end before the store does.
  std::unique_ptr<persistence::store> store_;
  std::unique_ptr<runtime::simulation> simulation_;
  std::unique_ptr<actors::control_plane> plane_;
  std::mt19937_64 random_;  // for names and uids
  std::uint64_t last_request_ = 0;
};

}  // namespace troupe::test
