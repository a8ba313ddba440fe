// Field ownership of an object (metadata.managedFields), and server-side apply.
//
// Tracking begins with the first apply (docs/decisions/0033-server-side-apply.md): an object
// without an apply has no managed fields, and then "kubectl-client-side-apply" owns the fields of
// the last client-side apply, "before-first-apply" the others.
//
// kubernetes: apimachinery/pkg/util/managedfields, structured-merge-diff/v6/merge.
#pragma once

#include <google/protobuf/repeated_field.h>

#include <cstdint>
#include <string>
#include <string_view>

#include "api/error.hpp"
#include "api/kind.hpp"
#include "api/schema/meta_object.pb.h"

namespace troupe::api {

using managed_fields = google::protobuf::RepeatedPtrField<meta::v1::ManagedFieldsEntry>;

// The author of a write.
struct field_manager {
  std::string name;
  std::string subresource = {};  // empty: the object itself
  bool force = false;            // for an apply: takes fields that other managers own
  std::int64_t now_seconds = 0;
};

struct applied {
  bool unchanged = false;  // then the other members are empty
  std::string json = {};   // the object after the apply
  managed_fields managed = {};
};

// `config`: the fields that the manager applies, as JSON. `live`: the current object as JSON with
// its managed fields; empty if it does not exist. 409 names the conflicts; 500 names the part of
// `config` that does not fit the schema, as upstream.
expected<applied> apply_fields(const kind_info& kind, std::string_view live,
                               std::string_view config, const field_manager& by);

// Updates ownership after any other write: the author alone owns the fields that it
// changed. `now` is complete except for its managed fields: the client's are used
// if the object itself is written and they are valid; an empty entry ends the
// tracking.
void track_update(const kind_info& kind, body& now, const body& was, const field_manager& by);

// Reduces `config` to the fields that the server knows, in stored form: the paths of `config` with
// the values of `read`, which was decoded from it.
std::string in_stored_form(const kind_info& kind, std::string_view config, std::string_view read);

}  // namespace troupe::api
