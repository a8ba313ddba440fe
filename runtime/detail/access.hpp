// Access of the runtime to the cell behind an actor_ref.
#pragma once

#include "runtime/actor_ref.hpp"
#include "runtime/fwd.hpp"

namespace troupe::runtime {

class actor_cell;

class access {
 public:
  // Null for the empty reference.
  static actor_cell* cell_of(const actor_ref& ref) noexcept {
    return static_cast<actor_cell*>(ref.cell_);
  }
  // Returns another reference to the cell.
  static actor_ref share(actor_cell& h) noexcept;
};

}  // namespace troupe::runtime
