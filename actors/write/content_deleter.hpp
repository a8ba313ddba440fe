// The base of actors that remove what belongs to an object before the object itself may go: the
// content of a namespace, the objects of a custom kind. Objects go by the ordinary deletion, some
// hundreds at a time; while something holds them (finalizers, the grace of pods) it looks again
// after a pause, however long that takes.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "actors/core/core_actors.hpp"
#include "actors/core/informer.hpp"
#include "actors/defaults.hpp"
#include "persistence/store/store.hpp"

namespace troupe::actors {

class content_deleter : public informer {
 protected:
  // The next step for an object that ends.
  struct stage {
    // Objects that are not yet marked for deletion.
    std::vector<api::object_ptr> to_remove = {};
    // Where there is nothing to remove: the object as it should be now, without its finalizer when
    // it may go. Null: it is so.
    std::unique_ptr<api::body> next = {};
  };

  // The store must outlive it. `author` is the cause of its writes.
  content_deleter(const persistence::store* store, core_actors core, const char* author);

  // Lists at most `limit` objects to be removed.
  virtual stage survey(const persistence::snapshot& state, const api::object& of,
                       std::size_t limit) const = 0;
  // Whether the object still waits for its content to go.
  virtual bool waits(const api::object& of) const = 0;

  // Does nothing where it is under way.
  void begin_deletion(const api::object& of);
  void stop_deletion(const api::object& of);
  // The names of those that end, for describe().
  std::string endings() const;

  const persistence::store* store_;
  const core_actors core_;

 private:
  // Of one object, not of another of its name.
  struct ending {
    std::string uid = {};
    std::string name = {};
    std::size_t in_flight = 0;
    bool refused = false;  // one of those in flight
    runtime::duration pause = defaults::content_first_pause;
    runtime::timer again = {};
  };

  // Null: it does not end any more.
  ending* find(const std::string& key, const std::string& uid);
  void empty(const std::string& key, const std::string& uid);
  void remove_content(const std::string& key, const std::string& uid, const api::object& object);
  void conclude(const std::string& key, const api::object& object, std::unique_ptr<api::body> next);
  void empty_later(const std::string& key, const std::string& uid);

  const char* author_;
  std::map<std::string, ending> endings_;  // by key of the object
};

}  // namespace troupe::actors
