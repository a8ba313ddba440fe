// The rules of a definition for its custom kind in one version: those that a built-in kind has in
// its schema and its row (kind_row.hpp). Kept by the kind; safe from any thread.
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
class findings;
struct structural_schema;
struct table_column;
enum class field_validation;

class version_rules : public std::enable_shared_from_this<version_rules> {
 public:
  virtual ~version_rules() = default;

  // The definition ends: nothing is created any more.
  virtual bool terminating() const noexcept = 0;
  // It has rules in CEL.
  virtual bool has_unchecked_rules() const noexcept = 0;
  // For every answer, where the version is deprecated; else empty.
  virtual const std::string& warning() const noexcept = 0;
  // Objects that were written before this revision may not be in line with the schema.
  virtual std::uint64_t since() const noexcept = 0;
  // Null of a schema that is not structural: objects are then taken as they come.
  virtual const structural_schema* schema() const = 0;
  // The schema of the objects as OpenAPI documents show it, as JSON.
  enum class document { v2, v3 };
  virtual std::string published_schema(document in) const = 0;

  // -- objects ------------------------------------------------------------------------------------

  // Of what a client wrote: prunes fields that the schema does not know, sets defaults. What was
  // unknown is dealt with as `fields` says: a line for each, or a 400.
  virtual expected<std::vector<std::string>> complete(CustomBody& content,
                                                      field_validation fields) const = 0;
  // The same of an object that is stored already, or was written in another version.
  virtual void bring_into_line(CustomBody& content) const = 0;

  // What the schema has against the object, or against its status alone. `was`: the object before,
  // or null; what was wrong in it and stays is no error.
  enum class part { object, status };
  virtual void check(findings& out, const CustomBody& now, const CustomBody* was,
                     part of) const = 0;

  // -- tables and selectors -----------------------------------------------------------------------

  virtual std::span<const table_column> columns() const noexcept = 0;
  virtual void append_cells(std::string& out, const object& item,
                            std::int64_t now_seconds) const = 0;
  // The value of a selectable field, as a selector compares it; empty where there is none.
  virtual std::string field(const CustomBody& content, std::string_view path) const = 0;

  // -- the subresource scale, of a kind that has it -----------------------------------------------

  struct replicas {
    std::int32_t wanted = 0;
    std::int32_t actual = 0;
    std::string selector = {};
  };
  // The steps to the number that is wanted.
  virtual std::vector<std::string> replicas_path() const = 0;
  // 500 where the object lacks the number that is wanted, as upstream.
  virtual expected<replicas> scale(const CustomBody& content) const = 0;
  // 500 where something else stands in the way of the number.
  virtual expected<void> set_replicas(CustomBody& content, std::int32_t wanted) const = 0;
};

}  // namespace troupe::api
