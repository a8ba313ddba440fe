// Server-side apply on values: which fields a value has, how two differ, how one is merged into the
// other, and what is left when fields go. Over JSON trees along a merge_type. Only .cpp files of
// the room include it.
//
// kubernetes: sigs.k8s.io/structured-merge-diff/v6/typed.
#pragma once

#include <string>
#include <tl/expected.hpp>

#include "api/apply/field_set.hpp"
#include "api/apply/merge_type.hpp"
#include "api/codec/json_dom.hpp"

namespace troupe::api {

// Leaves, and the elements of sets, keyed lists and maps themselves. The error names the first
// place that does not fit the type: an unknown field, an element without keys, or one that is there
// twice.
tl::expected<field_set, std::string> fields_of(const json_value& value, const merge_type& type);
// The same of a value that was accepted before: what does not fit counts as it can.
field_set fields_of_stored(const json_value& value, const merge_type& type);

struct comparison {
  field_set added, modified, removed;
  bool same() const { return added.empty() && modified.empty() && removed.empty(); }
};
comparison compare(const json_value& was, const json_value& now, const merge_type& type);

// `live` with all that `config` says. What is both a list and shared keeps the order of `config`.
json_value merge(const json_value& live, const json_value& config, const merge_type& type,
                 json_allocator& allocator);

// Takes the fields out of the value; what is left empty by it goes, too.
void remove(json_value& value, const field_set& fields, const merge_type& type,
            json_allocator& allocator);

// With the fields of structures that have something of the set below them.
field_set with_parents(const field_set& all, const merge_type& type);

}  // namespace troupe::api
