// The stages of a write between its proposal and its transaction: default, mutate, complete,
// validate, admit, reserve. Pure functions of a snapshot; between them the service
// (write_service.hpp) calls external steps, if there are any.
//
//   proposal ─► prepare ─► [mutating steps outside ─► prepare] ─► check ─► [validating ones] ─►
//   finish
//
// kubernetes: apiserver/pkg/registry/generic/registry/store.go. Names and uids are generated before
// external steps are called; upstream generates them afterwards.
#pragma once

#include <random>
#include <string>

#include "actors/write/admission/chain.hpp"
#include "actors/write/proposal.hpp"
#include "runtime/clock.hpp"

namespace troupe::actors {

// Inputs of the stages. The references are valid during one call.
struct write_context {
  const admission::chain& chain;
  const persistence::snapshot& state;
  runtime::wall_time now;
  std::mt19937_64& random;  // for names and uids
};

// A proposal in the pipeline.
struct draft {
  draft(proposal of, const admission::user& by, bool dry_run, const admission::chain& chain);

  proposal of;
  const admission::user& by;
  bool dry_run;
  const admission::chain::row& row;
  persistence::transaction also = {};  // changes by plugins, in the same transaction
  bool named_here = false;             // the name was generated from generateName
  std::string uid = {};                // of a new object; stable when it is prepared again
  admission::remarks remarks = {};

  admission::attributes attributes(const persistence::snapshot& state);
};

// Defaults, mutating plugins, identity. Repeated if an external step changed the object.
api::expected<void> prepare(draft& write, const write_context& context);
// Checks the schema, then runs the validating plugins.
api::expected<void> check(draft& write, const write_context& context);
// Returns 409 for a create whose name is taken. A generated name is generated again, at most eight
// times. The author of a transaction gets a commit conflict instead.
api::expected<void> check_absent(draft& write, const write_context& context);
// Reserves the resources of the write and returns its transaction.
api::expected<write_plan> finish(draft& write, const write_context& context);

// All stages in sequence, without check_absent.
api::expected<write_plan> admit(draft& write, const write_context& context);

}  // namespace troupe::actors
