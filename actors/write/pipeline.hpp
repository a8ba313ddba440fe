// The stages of a write between its proposal and its transaction: default, mutate, complete,
// validate, admit, reserve. Pure functions of a snapshot; the service (write_service.hpp) goes
// outside between them where somebody is to be asked.
//
//   proposal ─► prepare ─► [mutating steps outside ─► prepare] ─► check ─► [validating ones] ─►
//   finish
//
// kubernetes: apiserver/pkg/registry/generic/registry/store.go. Names and uids are made before
// anybody outside is asked, which upstream does after it.
#pragma once

#include <random>
#include <string>

#include "actors/write/admission/chain.hpp"
#include "actors/write/proposal.hpp"
#include "runtime/clock.hpp"

namespace troupe::actors {

// Inputs of the stages. References: valid during one call.
struct write_context {
  const admission::chain& chain;
  const persistence::snapshot& state;
  runtime::wall_time now;
  std::mt19937_64& random;  // of names and uids
};

// A proposal on its way.
struct draft {
  draft(proposal of, const admission::user& by, bool dry_run, const admission::chain& chain);

  proposal of;
  const admission::user& by;
  bool dry_run;
  const admission::chain::row& row;
  persistence::transaction also = {};  // changes of plugins, written along
  bool named_here = false;             // by generateName
  std::string uid = {};                // of a new object, however often it is prepared
  admission::remarks remarks = {};

  admission::attributes attributes(const persistence::snapshot& state);
};

// Defaults, mutating plugins, identity. Again when somebody outside has changed the object.
api::expected<void> prepare(draft& write, const write_context& context);
// The schema's rules, then the validating plugins.
api::expected<void> check(draft& write, const write_context& context);
// 409 for a create whose name is taken; one that was made up here is made up again, eight times at
// most. Who sends a transaction learns it as a conflict instead.
api::expected<void> check_absent(draft& write, const write_context& context);
// The resources that the write uses up; its transaction.
api::expected<write_plan> finish(draft& write, const write_context& context);

// All stages at once, without check_absent.
api::expected<write_plan> admit(draft& write, const write_context& context);

}  // namespace troupe::actors
