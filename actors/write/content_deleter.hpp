// The base class of actors that delete the content of an object before the object itself is
// removed: the content of a namespace, the objects of a custom kind. Objects are deleted in the
// ordinary way, a few hundred at a time. While some remain (finalizers, grace periods of pods) the
// actor checks again after a pause, without a time limit.
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
  // The next step for an object that is being deleted.
  struct stage {
    // Objects that are not yet marked for deletion.
    std::vector<api::object_ptr> to_remove = {};
    // Set if there is nothing to remove: the new content of the object, without the finalizer if
    // the object may be removed. Null: no change.
    std::unique_ptr<api::body> next = {};
  };

  // The store must outlive this actor. `author` is the cause of its writes.
  content_deleter(const persistence::store* store, core_actors core, const char* author);

  // Lists at most `limit` objects to remove.
  virtual stage survey(const persistence::snapshot& state, const api::object& of,
                       std::size_t limit) const = 0;
  // True if the object still waits for the deletion of its content.
  virtual bool waits(const api::object& of) const = 0;

  // Does nothing if the deletion is already in progress.
  void begin_deletion(const api::object& of);
  void stop_deletion(const api::object& of);
  // The names of the objects in deletion, for describe().
  std::string endings() const;

  const persistence::store* store_;
  const core_actors core_;

 private:
  // The deletion of one object; the uid distinguishes it from a later object of the same name.
  struct ending {
    std::string uid = {};
    std::string name = {};
    std::size_t in_flight = 0;
    bool refused = false;  // one of the deletions in flight failed
    runtime::duration pause = defaults::content_first_pause;
    runtime::timer again = {};
  };

  // Returns null if the object is no longer in deletion.
  ending* find(const std::string& key, const std::string& uid);
  void empty(const std::string& key, const std::string& uid);
  void remove_content(const std::string& key, const std::string& uid, const api::object& object);
  void conclude(const std::string& key, const api::object& object, std::unique_ptr<api::body> next);
  void empty_later(const std::string& key, const std::string& uid);

  const char* author_;
  std::map<std::string, ending> endings_;  // by the object's key
};

}  // namespace troupe::actors
