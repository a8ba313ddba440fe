// Allocates each Node its range of pod addresses (spec.podCIDRs): one actor on the leading control
// plane. It owns the set of allocated ranges; a range is free again when its Node is deleted. After
// a crash it reads the Nodes behind a barrier, so that it knows all former allocations. If no range
// is left the Node gets an event, and later the range of a deleted Node.
//
// kubernetes: pkg/controller/nodeipam/ipam/range_allocator.go.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "actors/core/core_actors.hpp"
#include "actors/core/informer.hpp"
#include "actors/nodes/pod_ranges.hpp"
#include "persistence/store/store.hpp"

namespace troupe::actors {

class pod_range_allocator : public informer {
 public:
  // The store must outlive it. `pools`: one for each address family.
  pod_range_allocator(const persistence::store* store, core_actors core,
                      std::vector<pod_ranges> pools);

  const runtime::behavior& make_behavior() const override;
  void started() override;
  std::string describe() const override;

 private:
  struct row {
    api::object_ptr node;
    // The ranges in its Node, or those to be written to it.
    std::vector<api::cidr> ranges;
    bool writing = false;
    bool reported = false;  // the event about missing ranges was recorded
  };

  void await_barrier();
  void load();
  void on_nodes(const watch_events& m);
  void drop_vanished();
  void take_node(const api::object_ptr& node);
  void drop_node(const std::string& name);
  void occupy(row& r, std::vector<api::cidr> ranges);
  void release(row& r);
  // Allocates ranges for the nodes that have none.
  void allocate();
  bool take_ranges(row& r);
  void write(row& r);
  void report_none(row& r);

  const persistence::store& store_;
  const core_actors core_;
  std::vector<pod_ranges> pools_;
  std::map<std::string, row> rows_;  // by node
  std::set<std::string> listed_;     // in the initial state of the watch
  revision known_ = 0;               // revision of the store that was read
  bool complete_ = false;
  runtime::timer again_;
};

}  // namespace troupe::actors
