// A whole control plane in one thread, with virtual time and a seed, on a store in memory: the
// local one, or one whose newest state is elsewhere. What scenario tests of controllers run on. The
// helpers do what the API server does for a client, without HTTP: defaults, identity, admission.
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
#include "support/far_store.hpp"

namespace troupe::test {

struct cluster_options {
  actors::control_plane_options plane = {};
  // History of the store's log; small, to force compaction.
  persistence::revision history_revisions = 100'000;
  // The store keeps no more than the weak promise (far_store.hpp). What it has under way moves when
  // one of its messages is handled, in the order that the seed gives, and before each look and each
  // deed of a client: clients see what the local store would show them.
  bool far = false;
  // Chance, at each write of an actor, that somebody elsewhere has just changed that object.
  double foreign = 0.05;
  // Chance, at each of those messages, that nothing moves.
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

  // Errors are those that the API would answer. Name and namespace ("default" when empty) stand in
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

  // A DELETE. `grace_seconds` below 0 is the object's own; `propagation` empty is the kind's own.
  template <class T>
  void remove(const std::string& ns, const std::string& name, std::int64_t grace_seconds = -1,
              const std::string& propagation = {}) {
    remove_key(api::kind_of<T>().key(ns, name), grace_seconds, propagation);
  }

  // -- looking ------------------------------------------------------------------------------------

  // Null when there is none. The namespace of kinds of the whole cluster is empty.
  template <class T>
  api::object_ptr find(const std::string& ns, const std::string& name) const {
    catch_up();
    return store_->read().find(api::kind_of<T>().key(ns, name));
  }
  template <class T>
  T get(const std::string& ns, const std::string& name) const {
    return must(find<T>(ns, name))->template as<T>();
  }
  // In order of name; of all namespaces when `ns` is empty.
  template <class T>
  std::vector<api::object_ptr> list(const std::string& ns = {}) const {
    return list_prefix(api::kind_of<T>().prefix(ns));
  }
  template <class T>
  std::size_t count(const std::string& ns = {}) const {
    catch_up();
    return store_->read().count(api::kind_of<T>().prefix(ns));
  }

  // All that is on its way to or from a store elsewhere arrives.
  void catch_up() const;

  // -- time and faults ----------------------------------------------------------------------------

  // False when the condition did not come to hold within `limit` of virtual time.
  bool run_until(const std::function<bool()>& done,
                 runtime::duration limit = std::chrono::seconds{60});
  runtime::wall_time now() const;
  void advance(runtime::duration by) { simulation_->advance(by); }
  void settle() { simulation_->settle(); }

  // The actor throws at its next message (it is sent one), and is restarted after its back-off.
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

  far_store* far_ = nullptr;
  // The actors end before the store does.
  std::unique_ptr<persistence::store> store_;
  std::unique_ptr<runtime::simulation> simulation_;
  std::unique_ptr<actors::control_plane> plane_;
  std::mt19937_64 random_;  // of names and uids
  std::uint64_t last_request_ = 0;
};

}  // namespace troupe::test
