// The entries of metadata.managedFields, read: who owns which fields. Pure.
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

  // Of an entry: who applies has one whatever the version.
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

// Nothing where one cannot be read.
std::optional<managers> read_managers(const managed_fields& entries);
// In upstream's order, without those that own nothing.
managed_fields written(managers all);

// That of the manager, a new one where there is none.
manager& entry_of(managers& all, const manager& wanted);

// As apply_fields of field_managers.hpp, for who has the managed fields at hand: what `live` says
// of them does not count.
expected<applied> apply_fields(const kind_info& kind, std::string_view live,
                               const managed_fields& owners, std::string_view config,
                               const field_manager& by);

// The owner of all that is in an object that was never applied.
managed_fields before_first_apply(const kind_info& kind, std::string_view live,
                                  std::int64_t now_seconds);

}  // namespace troupe::api
