// An admission plugin: a rule of the control plane about writes of some kinds, whoever makes them.
//
// Pure functions of the attributes: no state of its own, no clock, no I/O; called on any thread,
// for one write as often as it is tried. A refusal is an error as the client gets it. A plugin that
// must ask somebody outside is an outside_step (outside.hpp).
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
  // Asked once for each kind and operation, not for each write.
  virtual bool handles(const api::kind_info& kind, operation op) const = 0;
  // The same for writes of a part: a subresource.
  virtual bool handles_part(const api::kind_info& kind, operation op) const {
    static_cast<void>(kind), static_cast<void>(op);
    return false;
  }

  // Before the object is completed and validated: may change it, and add to `also` under which
  // preconditions the write may be committed. A create without a name has none yet. `now` is the
  // object of `of`; it is not called for deletions. Idempotent.
  virtual verdict mutate(const attributes& of, api::body& now,
                         persistence::transaction& also) const {
    static_cast<void>(of), static_cast<void>(now), static_cast<void>(also);
    return {};
  }
  // The object is complete and valid.
  virtual verdict validate(const attributes& of) const {
    static_cast<void>(of);
    return {};
  }
  // The write is admitted: takes what it uses up of something that writes share. `into` is its
  // transaction, the object its first mutation. Not called for deletions.
  virtual verdict reserve(const attributes& of, persistence::transaction& into) const {
    static_cast<void>(of), static_cast<void>(into);
    return {};
  }
};

}  // namespace troupe::actors::admission
