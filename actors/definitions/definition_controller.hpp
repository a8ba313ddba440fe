// The controller of CustomResourceDefinitions: accepts their names, and empties deleted ones.
//
// One actor for all definitions: names are unique within a group, so it accepts the definitions of
// a group one at a time, each after the previous status has arrived in the stream. Its state comes
// from its stream and is rebuilt after a crash. A write that conflicts or gets no answer is
// retried.
//
// kubernetes: apiextensions-apiserver/pkg/controller/{status,establish,apiapproval,finalizer}.
#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>

#include "actors/write/content_deleter.hpp"
#include "api/schema/apiextensions_v1.pb.h"

namespace troupe::actors {

class definition_controller : public content_deleter {
 public:
  // The store must outlive it.
  definition_controller(const persistence::store* store, core_actors core);

  const runtime::behavior& make_behavior() const override;
  void started() override;
  std::string describe() const override;

 private:
  using definition = api::apiextensions::v1::CustomResourceDefinition;

  // The definitions of one API group, by name.
  struct group {
    std::map<std::string, api::object_ptr> known = {};
    std::set<std::string> waiting = {};  // to be checked
    bool writing = false;                // a status write is in flight
    revision written = 0;                // the stream must reach it before the next check
  };
  stage survey(const persistence::snapshot& state, const api::object& of,
               std::size_t limit) const override;
  bool waits(const api::object& of) const override;

  void on_definitions(const watch_events& m);
  void changed(const watch_event& event);

  void sync_next(group& in);
  // The definition with its new status; null if the status is current.
  std::unique_ptr<definition> with_status(const group& in, const definition& of) const;
  void write_status(group& in, const api::object& object, std::unique_ptr<definition> next);

  std::map<std::string, group> groups_;
  runtime::timer again_;
};

}  // namespace troupe::actors
