// Selectors choose objects: by labels (`app=web,tier in (front,back),!canary`) or by fields
// (`status.phase!=Running`). Text from clients becomes a compiled selector once; matching allocates
// nothing. Selectors are values, safe to read from any thread.
#pragma once

#include <google/protobuf/map.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/error.hpp"
#include "api/fwd.hpp"
#include "api/kind.hpp"

namespace troupe::api {

namespace meta::v1 {
class LabelSelector;
}

using label_map = google::protobuf::Map<std::string, std::string>;

enum class label_operator { in, not_in, exists, not_exists, greater, less };

// `=` and `==` are `in` one value, `!=` is `not_in` one value.
struct label_requirement {
  std::string key;
  label_operator op = label_operator::exists;
  std::vector<std::string> values;  // sorted, without doubles
  std::int64_t bound = 0;           // of `greater` and `less`

  bool matches(const label_map& labels) const;
  bool operator==(const label_requirement& other) const = default;
};

// All requirements must hold. A label that is absent satisfies `!=`, `notin` and `!key`, as
// upstream. The default selector matches everything.
class label_selector {
 public:
  // kubectl's text form. 400 with the place where it stops making sense.
  static expected<label_selector> parse(std::string_view text);
  // matchLabels and matchExpressions; an empty message matches everything. 400 for an operator or a
  // wrong number of values.
  static expected<label_selector> from(const meta::v1::LabelSelector& selector);
  // Labels that must be exactly so (the selector of a ReplicationController or a Service).
  static label_selector from(const label_map& labels);
  // Matches no object, as an absent LabelSelector.
  static label_selector nothing();

  // One more that must hold.
  void add(label_requirement requirement);

  bool matches(const label_map& labels) const;
  bool everything() const noexcept { return !nothing_ && requirements_.empty(); }
  // Canonical text, requirements sorted by key: equal selectors print the same.
  std::string str() const;
  // Sorted by key.
  const std::vector<label_requirement>& requirements() const noexcept { return requirements_; }

  bool operator==(const label_selector& other) const = default;

 private:
  void sort();

  std::vector<label_requirement> requirements_;
  bool nothing_ = false;
};

// Conditions on the few fields that a kind lets clients select by: metadata.name,
// metadata.namespace, and Kind.selectable_fields of the schema. An absent field compares as the
// zero of its type ("", "0", "false").
class field_selector {
 public:
  field_selector() = default;
  // 400 for bad syntax and for fields that the kind does not offer.
  static expected<field_selector> parse(const kind_info& kind, std::string_view text);

  bool matches(const body& content) const;
  bool everything() const noexcept { return terms_.empty(); }
  // The value that `path` must have, when the selector demands one: a list of
  // `metadata.name=x` reads one key.
  std::optional<std::string_view> exact(std::string_view path) const;
  // False: no object of a compact kind (options.proto) with this stored form matches. Spares nearly
  // all of them the decoding.
  bool may_match(std::string_view stored) const;

 private:
  struct term {
    std::string path;
    std::vector<const google::protobuf::FieldDescriptor*> chain;
    version_rules_ptr custom = {};  // of a field that a definition makes selectable
    std::string value;
    bool equal = true;
  };
  static bool compile(const kind_info& kind, term& t);

  std::vector<term> terms_;
};

}  // namespace troupe::api
