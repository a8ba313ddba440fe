// The events of a watcher in an immutable list that all subscribers share.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "api/object/object.hpp"
#include "persistence/store/store.hpp"

namespace troupe::actors {

enum class event_type : std::uint8_t { added, modified, deleted, bookmark };

// A `deleted` event carries the object's last state with the revision of the deletion, or of the
// change after which the filter no longer matches it. A bookmark carries no object.
struct watch_event {
  event_type type = event_type::added;
  persistence::revision at = 0;
  api::object_ptr object;
  api::object_ptr previous = {};         // null for a creation and for the initial state
  persistence::change_cause cause = {};  // empty for old objects of the initial state
};

class event_list {
 public:
  event_list() = default;
  event_list(std::vector<watch_event> events)
      : events_{std::make_shared<const std::vector<watch_event>>(std::move(events))} {}

  bool empty() const noexcept { return size() == 0; }
  std::size_t size() const noexcept { return events_ ? events_->size() : 0; }
  const watch_event* begin() const noexcept { return events_ ? events_->data() : nullptr; }
  const watch_event* end() const noexcept { return begin() + size(); }
  const watch_event& operator[](std::size_t i) const noexcept { return (*events_)[i]; }

 private:
  std::shared_ptr<const std::vector<watch_event>> events_;
};

}  // namespace troupe::actors
