// The properties of a kind that are not in its schema: one row of functions and values for each
// kind, all in one table (kinds/). General code asks the row; code that is written for one kind
// (an actor, an admission plugin) names it (docs/decisions/0025-kinds-as-data.md).
//
// The default of every member fits a kind without special rules. Functions get bodies of the kind's
// own type.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "api/fwd.hpp"
#include "api/schema/options.pb.h"

namespace troupe::api {

class field_errors;
class row_cells;
struct deletion_plan;
struct table_column;
struct version_shape;

namespace meta::v1 {
class DeleteOptions;
}

// A subresource: pods/log. `status` and `scale` are in the schema instead.
struct kind_part {
  std::string_view name;
  std::string_view group, version, kind;  // of the subresource's request and response
  std::span<const std::string_view> verbs;
  bool deep = false;  // it has subpaths: pods/NAME/proxy/PATH
};

// Presents the objects of one kind, the home, as another: a kind of the same name and plural in
// another API version. The caller copies the metadata, which are equal.
struct kind_shape {
  std::string_view home;  // the API version of the home: "v1", "autoscaling/v2"
  // `shown` is empty.
  void (*show)(const body& home, body& shown);
  // The reverse. `home` is the old object, or empty: fields that the shape lacks keep their values.
  void (*take)(const body& shown, body& home);
  // Maps the path of a selectable field to the path in the home's objects.
  std::string (*field)(std::string_view path);
};

struct kind_row {
  // -- names -------------------------------------------------------------------------------------

  Syntax name = DNS_SUBDOMAIN;

  // -- requests ----------------------------------------------------------------------------------

  std::span<const kind_part> parts;
  // An update of an absent object creates it (kubernetes: AllowCreateOnUpdate).
  bool created_by_update = false;
  // An update must have a resourceVersion (kubernetes: AllowUnconditionalUpdate is false).
  bool updates_a_revision = false;
  // A deletion returns the last state, else a Status (kubernetes: ReturnDeletedObject).
  bool deletion_shows_object = false;
  // The warning on writes of a kind that nothing acts on yet, without the kind's name. Empty:
  // none.
  std::string_view warning;
  // Null for kinds that have objects of their own.
  const kind_shape* shape = nullptr;
  // Objects are computed for each request and not stored (ComponentStatus).
  bool is_computed = false;
  // Only users who may read the object see `data` and `stringData` (Secret).
  bool confidential = false;

  // -- storage -----------------------------------------------------------------------------------

  // The form of objects that upstream stored in an earlier version, if its protobuf is another one
  // (storage/version_shapes.hpp); null: it is the same.
  const version_shape& (*earlier_form)() = nullptr;

  // -- watches -----------------------------------------------------------------------------------

  // The node of an object, empty if it has none yet; null for a kind without nodes. The watcher has
  // an index by it, for subscriptions to the objects of one node.
  std::string_view (*node)(const body& content) = nullptr;
  // The selectable field with the node's name.
  std::string_view node_field;

  // -- strategy ----------------------------------------------------------------------------------

  // Sets the defaults that are computed from other fields.
  void (*complete)(body& content) = nullptr;
  // Sets the initial state of a new object; null: clears the status.
  void (*begin)(const kind_info& kind, body& content) = nullptr;
  // Restores from `was` the fields that an update must not change, besides identity and status.
  void (*keep)(const kind_info& kind, body& now, const body& was) = nullptr;
  // Whether both have the same desired state, so that the generation is not raised; null: all
  // fields except metadata and status are compared.
  bool (*same_desired_state)(const kind_info& kind, const body& now, const body& was) = nullptr;
  // Restores from `was` the fields that a status write must not change, besides metadata; null: all
  // fields except the status.
  void (*keep_in_status_update)(body& now, const body& was) = nullptr;
  // A status write must not change labels.
  bool status_keeps_labels = false;
  // False: its objects cannot own others, and garbage collection ignores them.
  bool has_dependents = true;
  // Null: finalizers delay a deletion, and nothing else.
  deletion_plan (*plan_delete)(const kind_info& kind, const body& stored,
                               const meta::v1::DeleteOptions& options,
                               std::int64_t now_seconds) = nullptr;
  // Whether something besides metadata.finalizers delays a deletion.
  bool (*holds_deletion)(const body& content) = nullptr;

  // -- validation, beyond the rules of the schema ------------------------------------------------

  void (*check)(field_errors& out, const body& content) = nullptr;
  void (*check_create)(field_errors& out, const body& content) = nullptr;
  void (*check_update)(field_errors& out, const body& now, const body& was) = nullptr;
  // For a status write; the schema has the rules of the status itself.
  void (*check_status)(field_errors& out, const body& now, const body& was) = nullptr;

  // -- tables ------------------------------------------------------------------------------------

  // Name and Age if empty.
  std::span<const table_column> columns;
  void (*cells)(row_cells& into, const body& content) = nullptr;
  // The conditions of a row as JSON: completed objects, which a client may omit; empty for none.
  std::string_view (*row_conditions)(const body& content) = nullptr;
};

// The kind whose objects `kind` presents; `kind` itself if it has objects of its own.
const kind_info& home_of(const kind_info& kind);

// The row of the kinds with that body; an empty row if there are no special rules.
const kind_row& row_of(const google::protobuf::Descriptor& type);

}  // namespace troupe::api
