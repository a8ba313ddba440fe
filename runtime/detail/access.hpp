// How the runtime itself sees the host behind an actor_ref.
#pragma once

#include "runtime/actor_ref.hpp"
#include "runtime/fwd.hpp"

namespace troupe::runtime {

class host;

class access {
 public:
  // Null for the empty reference.
  static host* host_of(const actor_ref& ref) noexcept { return static_cast<host*>(ref.cell_); }
  // A further reference.
  static actor_ref share(host& h) noexcept;
};

}  // namespace troupe::runtime
