// Who owns which fields of an object (metadata.managedFields), and server-side apply.
//
// Tracking begins with the first apply (docs/decisions/0033-server-side-apply.md): an object that
// was never applied has no managed fields, and all of it then belongs to "before-first-apply".
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

// Who writes, and how.
struct field_manager {
  std::string name;
  std::string subresource = {};  // empty: the object itself
  bool force = false;            // of an apply: takes what others own
  std::int64_t now_seconds = 0;
};

struct applied {
  bool unchanged = false;  // then the rest is empty
  std::string json = {};   // the object as it should be
  managed_fields managed = {};
};

// `config` is what the manager wants, as JSON; `live` the object of that kind, as JSON with its
// managed fields, or empty where there is none. 409 names the conflicts; 500 says what of `config`
// does not fit the schema, as upstream.
expected<applied> apply_fields(const kind_info& kind, std::string_view live,
                               std::string_view config, const field_manager& by);

// After any other write of an object that has managed fields: who has changed a field owns it,
// alone. `now` is complete but for its managed fields: what it says of them counts where the object
// itself is written and they can be read; an empty entry ends the tracking.
void track_update(const kind_info& kind, body& now, const body& was, const field_manager& by);

// Keeps of `config` what the server knows, as it writes it into the store: the paths of
// `config` with the values of `read`, which was made of it.
std::string in_stored_form(const kind_info& kind, std::string_view config, std::string_view read);

}  // namespace troupe::api
