// The parsed entries of metadata.managedFields: the owners of fields. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/apply/field_managers.hpp"
#include "api/apply/field_set.hpp"

namespace troupe::api {

inline constexpr const char* applies = "Apply";
inline constexpr const char* updates = "Update";

struct manager {
  std::string name = {}, operation = {}, api_version = {}, subresource = {};
  std::int64_t seconds = 0;
  field_set fields = {};

  // Whether both are the same entry: a manager has one entry for applies in all versions.
  bool is(const manager& other) const {
    return name == other.name && operation == other.operation && subresource == other.subresource &&
           (operation == applies || api_version == other.api_version);
  }
  manager without_fields() const {
    return {.name = name,
            .operation = operation,
            .api_version = api_version,
            .subresource = subresource,
            .seconds = seconds};
  }
};
using managers = std::vector<manager>;

// Returns nullopt if an entry is invalid.
std::optional<managers> read_managers(const managed_fields& entries);
// In upstream's order, without entries that own no field.
managed_fields written(managers all);

// The entry of the manager; a new one if there is none.
manager& entry_of(managers& all, const manager& wanted);

// As apply_fields of field_managers.hpp, with the managed fields in `owners` instead of those in
// `live`.
expected<applied> apply_fields(const kind_info& kind, std::string_view live,
                               const managed_fields& owners, std::string_view config,
                               const field_manager& by);

// The managed fields of an object that was never applied on the server: kubectl owns the fields of
// its last client-side apply, "before-first-apply" the others.
managed_fields before_first_apply(const kind_info& kind, std::string_view live,
                                  std::int64_t now_seconds);

}  // namespace troupe::api
