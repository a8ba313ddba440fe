// Server-side apply on JSON trees along a merge_type: the fields of a value, the difference of
// two values, merging one into the other, removing fields. Only .cpp files of the room include
// it.
//
// kubernetes: sigs.k8s.io/structured-merge-diff/v6/typed.
#pragma once

#include <string>
#include <tl/expected.hpp>

#include "api/apply/field_set.hpp"
#include "api/apply/merge_type.hpp"
#include "api/codec/json_dom.hpp"

namespace troupe::api {

// The leaves, and the elements of sets, keyed lists and maps. The error names the first place
// that does not fit the type: an unknown field, an element without keys, or a duplicate
// element.
tl::expected<field_set, std::string> fields_of(const json_value& value, const merge_type& type);
// The same for a stored value, which was accepted before: tolerates parts that do not fit.
field_set fields_of_stored(const json_value& value, const merge_type& type);

struct comparison {
  field_set added, modified, removed;
  bool same() const { return added.empty() && modified.empty() && removed.empty(); }
};
comparison compare(const json_value& was, const json_value& now, const merge_type& type);

// `live` with all fields of `config`. A list in both gets the order of `config`.
json_value merge(const json_value& live, const json_value& config, const merge_type& type,
                 json_allocator& allocator);

// Removes the fields from the value, and containers that become empty by it.
void remove(json_value& value, const field_set& fields, const merge_type& type,
            json_allocator& allocator);

// Adds the structure fields that have members of the set below them.
field_set with_parents(const field_set& all, const merge_type& type);

}  // namespace troupe::api
