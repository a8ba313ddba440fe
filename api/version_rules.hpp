// The rules of a definition for its custom kind in one version, corresponding to the schema and the
// row (kind_row.hpp) of a built-in kind. Owned by the kind; thread safe.
//
// kubernetes: apiextensions-apiserver/pkg/registry/customresource.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "api/error.hpp"
#include "api/fwd.hpp"

namespace troupe::api {

class CustomBody;
class field_errors;
struct structural_schema;
struct table_column;
enum class field_validation;

class version_rules : public std::enable_shared_from_this<version_rules> {
 public:
  virtual ~version_rules() = default;

  // The definition is being deleted: no objects can be created.
  virtual bool terminating() const noexcept = 0;
  // It has CEL rules.
  virtual bool has_unchecked_rules() const noexcept = 0;
  // The warning for every response, if the version is deprecated; else empty.
  virtual const std::string& warning() const noexcept = 0;
  // Objects written before this revision may not match the schema.
  virtual std::uint64_t since() const noexcept = 0;
  // Null for a schema that is not structural: objects are then accepted unchecked.
  virtual const structural_schema* schema() const = 0;
  // The schema of the objects in OpenAPI documents, as JSON.
  enum class document { v2, v3 };
  virtual std::string published_schema(document in) const = 0;

  // -- objects ------------------------------------------------------------------------------------

  // For a client's write: prunes fields that are not in the schema, sets defaults. Unknown fields
  // are handled as `fields` says: a warning line for each, or a 400.
  virtual expected<std::vector<std::string>> complete(CustomBody& content,
                                                      field_validation fields) const = 0;
  // The same for a stored object, or one that was written in another version.
  virtual void complete_stored(CustomBody& content) const = 0;

  // Validates the object, or its status alone. `was`: the old object, or null; old errors in
  // unchanged parts are not reported.
  enum class part { object, status };
  virtual void check(field_errors& out, const CustomBody& now, const CustomBody* was,
                     part of) const = 0;

  // -- tables and selectors -----------------------------------------------------------------------

  virtual std::span<const table_column> columns() const noexcept = 0;
  virtual void append_cells(std::string& out, const object& item,
                            std::int64_t now_seconds) const = 0;
  // The value of a selectable field as a selector compares it; empty if there is none.
  virtual std::string field(const CustomBody& content, std::string_view path) const = 0;

  // -- the subresource scale, if the kind has it --------------------------------------------------

  struct replicas {
    std::int32_t wanted = 0;
    std::int32_t actual = 0;
    std::string selector = {};
  };
  // The path of the desired replica count.
  virtual std::vector<std::string> replicas_path() const = 0;
  // 500 if the object has no desired count, as upstream.
  virtual expected<replicas> scale(const CustomBody& content) const = 0;
  // 500 if the object has no place for the count.
  virtual expected<void> set_replicas(CustomBody& content, std::int32_t wanted) const = 0;
};

}  // namespace troupe::api
