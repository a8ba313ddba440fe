// An admission plugin: a rule of the control plane for writes of some kinds by any user.
//
// Pure functions of the attributes: no state, no clock, no I/O. Called on any thread, once for each
// attempt of a write. A rejection is the error that the client gets. A plugin that must call an
// external service is an external_step (external_step.hpp).
//
// kubernetes: apiserver/pkg/admission, MutationInterface and ValidationInterface.
#pragma once

#include <memory>
#include <string_view>

#include "actors/write/admission/attributes.hpp"
#include "persistence/transaction.hpp"

namespace troupe::actors::admission {

using verdict = api::expected<void>;

class plugin {
 public:
  virtual ~plugin() = default;

  virtual std::string_view name() const noexcept = 0;
  // Called once for each kind and operation, not for each write.
  virtual bool handles(const api::kind_info& kind, operation op) const = 0;
  // The same for writes of subresources.
  virtual bool handles_part(const api::kind_info& kind, operation op) const {
    static_cast<void>(kind), static_cast<void>(op);
    return false;
  }

  // Called before the object is completed and validated: may change it, and may add preconditions
  // of the commit to `also`. A create may have no name yet. `now` is the object of `of`. Not called
  // for deletions. Idempotent.
  virtual verdict mutate(const attributes& of, api::body& now,
                         persistence::transaction& also) const {
    static_cast<void>(of), static_cast<void>(now), static_cast<void>(also);
    return {};
  }
  // Called when the object is complete and valid.
  virtual verdict validate(const attributes& of) const {
    static_cast<void>(of);
    return {};
  }
  // Called when the write is admitted: reserves shared resources for it. `into` is its transaction,
  // whose first mutation is the object. Not called for deletions.
  virtual verdict reserve(const attributes& of, persistence::transaction& into) const {
    static_cast<void>(of), static_cast<void>(into);
    return {};
  }
};

}  // namespace troupe::actors::admission
