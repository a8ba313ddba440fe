// The properties of a kind beyond its schema: one row of functions and facts for each kind, all in
// one table (kinds/). Other code asks the row and compares no kinds.
//
// Every member has a value that fits a kind without anything special. Functions get bodies of the
// kind's own type.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "api/fwd.hpp"
#include "api/schema/options.pb.h"

namespace troupe::api {

class findings;
class row_cells;
struct deletion_plan;
struct table_column;

namespace meta::v1 {
class DeleteOptions;
}

// A resource below an object: pods/log. `status` and `scale` are facts of the schema.
struct kind_part {
  std::string_view name;
  std::string_view group, version, kind;  // of the request and the answer there
  std::span<const std::string_view> verbs;
  bool deep = false;  // the rest of a path is its own: pods/NAME/proxy/PATH
};

// How the objects of one kind, their home, are shown as another: the kind of the same name and
// plural in another API version. Metadata is the same and is copied by the caller.
struct kind_shape {
  std::string_view home;  // the API version of the home: "v1", "autoscaling/v2"
  // `shown` comes empty.
  void (*show)(const body& home, body& shown);
  // Back again. `home` is the old object, or empty: fields that the shape lacks keep their values.
  void (*take)(const body& shown, body& home);
  // The path that a selectable field has in the objects themselves.
  std::string (*field)(std::string_view path);
};

struct kind_row {
  // -- names
  // ----------------------------------------------------------------------------------------
  Syntax name = DNS_SUBDOMAIN;

  // -- requests
  // -------------------------------------------------------------------------------------
  std::span<const kind_part> parts;
  // An update of an absent object creates it (kubernetes: AllowCreateOnUpdate).
  bool created_by_update = false;
  // An update has to name the revision that it replaces (kubernetes: AllowUnconditionalUpdate).
  bool updates_a_revision = false;
  // A deletion is answered by the last state, else by a Status (kubernetes: ReturnDeletedObject).
  bool deletion_shows_object = false;
  // The warning to whoever writes an object that nothing acts on yet, without the name of the kind.
  // Empty: none.
  std::string_view warning;
  // Null for kinds that have objects of their own.
  const kind_shape* shape = nullptr;
  // There are such objects only while somebody asks for them (ComponentStatus): nothing is stored.
  bool made_up = false;
  // `data` and `stringData` are shown to nobody but who may read the object (Secret).
  bool confidential = false;

  // -- watches
  // -------------------------------------------------------------------------------------

  // The node to which an object belongs, empty for none yet; null for a kind that belongs to no
  // nodes. The watcher has an index by it, for subscriptions to the objects of one node.
  std::string_view (*node)(const body& content) = nullptr;
  // The selectable field that names the node.
  std::string_view node_field;

  // -- strategy
  // -------------------------------------------------------------------------------------

  // Defaults that are computed from other fields.
  void (*complete)(body& content) = nullptr;
  // The state that a new object begins with; null: without a status.
  void (*begin)(const kind_info& kind, body& content) = nullptr;
  // Takes the fields that an update may not change, besides identity and status, from `was`.
  void (*keep)(const kind_info& kind, body& now, const body& was) = nullptr;
  // Whether both ask for the same, so that no generation is counted; null: all but metadata and
  // status are equal.
  bool (*same_wish)(const kind_info& kind, const body& now, const body& was) = nullptr;
  // Takes the fields that a write of the status may not change, besides metadata, from `was`; null:
  // all fields but status.
  void (*keep_at_status)(body& now, const body& was) = nullptr;
  // Who reports the status may not change the labels.
  bool status_keeps_labels = false;
  // False: it can own nothing, and garbage collection does not look at it.
  bool has_dependents = true;
  // Null: finalizers hold a deletion back, and nothing else.
  deletion_plan (*plan_delete)(const kind_info& kind, const body& stored,
                               const meta::v1::DeleteOptions& options,
                               std::int64_t now_seconds) = nullptr;
  // Whether something besides metadata.finalizers holds back a deletion.
  bool (*holds_deletion)(const body& content) = nullptr;

  // -- validation, beyond the rules of the schema
  // ---------------------------------------------------
  void (*check)(findings& out, const body& content) = nullptr;
  void (*check_create)(findings& out, const body& content) = nullptr;
  void (*check_update)(findings& out, const body& now, const body& was) = nullptr;
  // Of a write of the status, whose own rules the schema has.
  void (*check_status)(findings& out, const body& now, const body& was) = nullptr;

  // -- tables
  // ---------------------------------------------------------------------------------------

  // Name and Age where there are none.
  std::span<const table_column> columns;
  void (*cells)(row_cells& into, const body& content) = nullptr;
  // Of a row, as JSON: completed objects, which a client may leave out; empty for none.
  std::string_view (*row_conditions)(const body& content) = nullptr;
};

// The kind whose objects `kind` shows; itself where it has objects of its own.
const kind_info& home_of(const kind_info& kind);

// The row of the kinds with that body; an empty one where nothing is special.
const kind_row& row_of(const google::protobuf::Descriptor& type);

}  // namespace troupe::api
