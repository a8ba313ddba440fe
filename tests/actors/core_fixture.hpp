// Writer and watcher without other actors, in a simulation, on a store in memory whose history the
// test writes: the local store, or one whose newest state is remote.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "actors/core/messages.hpp"
#include "actors/watch/watcher.hpp"
#include "actors/write/writer.hpp"
#include "api/object/object.hpp"
#include "persistence/engine/memory_engine.hpp"
#include "persistence/store/store.hpp"
#include "runtime/simulation.hpp"
#include "support/remote_store.hpp"

namespace troupe::test {

struct core_fixture_options {
  actors::watcher_options watcher = {};
  actors::writer_options writer = {};
  persistence::revision history_revisions = 100'000;
  bool far = false;
};

class core_fixture {
 public:
  explicit core_fixture(std::uint64_t seed, core_fixture_options options = {});

  runtime::simulation simulation;
  // The files of the store, so that a test can damage them.
  const std::shared_ptr<persistence::memory_disk> disk =
      std::make_shared<persistence::memory_disk>();
  std::unique_ptr<persistence::store> store;
  remote_store* far = nullptr;  // the same store; null if it is local
  runtime::actor_ref watcher;
  runtime::actor_ref writer;

  // While this is set, the observer's batches do not reach the watcher.
  bool lose_batches = false;
  // Called with each batch.
  std::function<void(const std::vector<persistence::change>&)> saw;
  // The request that the writes belong to.
  std::uint64_t request = 0;

  ~core_fixture();

  static std::string key(std::string_view ns, std::string_view name);
  // Config maps with a label "shown" and a value.
  static std::unique_ptr<api::body> config(std::string_view ns, std::string_view name, bool shown,
                                           int value);

  // Writes without precondition; a null body deletes. Returns the revision.
  using contents = std::vector<std::pair<std::string, std::unique_ptr<api::body>>>;
  persistence::revision write(contents all);
  // The same, without waiting for a remote store.
  void send(
      contents all, persistence::completion done = [](const persistence::outcome&) {});
  persistence::revision put(std::string_view ns, std::string_view name, bool shown = true,
                            int value = 0);
  persistence::revision remove(std::string_view ns, std::string_view name);

 private:
  std::unique_ptr<persistence::store> open_local(const core_fixture_options& options);
  std::unique_ptr<persistence::store> open_elsewhere(std::uint64_t seed,
                                                     const core_fixture_options& options);
};

bool shown(const api::object& object);

// The messages that a subscriber received.
struct record {
  std::vector<actors::watch_events> messages;
  std::vector<actors::watch_ended> ended;

  std::vector<actors::watch_event> events() const;
  // "ADDED a@5" for each event, with the object's name and revision.
  std::vector<std::string> lines() const;
};

// A subscriber that the test controls: it sends the test's messages and records received ones.
class probe : public runtime::actor {
 public:
  template <class M>
  struct say {
    M message;
  };

  probe(runtime::actor_ref watcher, std::shared_ptr<record> heard)
      : watcher_{std::move(watcher)}, heard_{std::move(heard)} {}

  const runtime::behavior& make_behavior() const override;

 private:
  void on_events(const actors::watch_events& m) { heard_->messages.push_back(m); }
  void on_ended(const actors::watch_ended& m) { heard_->ended.push_back(m); }
  void on_subscribe(const say<actors::subscribe>& m) { tell(watcher_, m.message); }
  void on_more(const say<actors::more>& m) { tell(watcher_, m.message); }
  void on_bookmark(const say<actors::bookmark_now>& m) { tell(watcher_, m.message); }
  void on_unsubscribe(const say<actors::unsubscribe>& m) { tell(watcher_, m.message); }

  runtime::actor_ref watcher_;
  std::shared_ptr<record> heard_;
};

struct subscriber {
  subscriber(core_fixture& fixture, std::string name);

  template <class M>
  void say(M message) {
    ref.tell(probe::say<M>{std::move(message)});
    fixture_.simulation.settle();
  }

  std::shared_ptr<record> heard = std::make_shared<record>();
  runtime::actor_ref ref;

 private:
  core_fixture& fixture_;
};

}  // namespace troupe::test
