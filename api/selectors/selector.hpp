// Selectors choose objects by labels (`app=web,tier in (front,back),!canary`) or by fields
// (`status.phase!=Running`). Text from clients is compiled once; matching allocates nothing.
// Selectors are values, safe to read from any thread.
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

// `=` and `==` are `in` with one value, `!=` is `not_in` with one value.
struct label_requirement {
  std::string key;
  label_operator op = label_operator::exists;
  std::vector<std::string> values;  // sorted, without duplicates
  std::int64_t bound = 0;           // for `greater` and `less`

  bool matches(const label_map& labels) const;
  bool operator==(const label_requirement& other) const = default;
};

// A conjunction of requirements. As upstream, an absent label satisfies `!=`, `notin` and `!key`.
// The default selector matches everything.
class label_selector {
 public:
  // Parses kubectl's text form. 400 with the place of the syntax error.
  static expected<label_selector> parse(std::string_view text);
  // matchLabels and matchExpressions; an empty message matches everything. 400 for an unknown
  // operator or a wrong number of values.
  static expected<label_selector> from(const meta::v1::LabelSelector& selector);
  // Exact labels (the selector of a ReplicationController or a Service).
  static label_selector from(const label_map& labels);
  // Matches no object, like an absent LabelSelector.
  static label_selector nothing();

  // Adds a requirement.
  void add(label_requirement requirement);

  bool matches(const label_map& labels) const;
  bool everything() const noexcept { return !nothing_ && requirements_.empty(); }
  // Canonical text, requirements sorted by key: equal selectors have equal text.
  std::string str() const;
  // Sorted by key.
  const std::vector<label_requirement>& requirements() const noexcept { return requirements_; }

  bool operator==(const label_selector& other) const = default;

 private:
  void sort();

  std::vector<label_requirement> requirements_;
  bool nothing_ = false;
};

// Conditions on the fields that a kind lets clients select by: metadata.name, metadata.namespace,
// and Kind.selectable_fields of the schema. An absent field compares as the zero of its type ("",
// "0", "false").
class field_selector {
 public:
  field_selector() = default;
  // 400 for bad syntax and for fields that the kind does not support.
  static expected<field_selector> parse(const kind_info& kind, std::string_view text);

  bool matches(const body& content) const;
  bool everything() const noexcept { return terms_.empty(); }
  // The value that the selector requires for `path`, if any: a list with `metadata.name=x` reads
  // one key.
  std::optional<std::string_view> exact(std::string_view path) const;
  // For objects of a compact kind (options.proto): returns false if the stored form cannot match.
  // So most of them need no decoding.
  bool may_match(std::string_view stored) const;

 private:
  struct term {
    std::string path;
    std::vector<const google::protobuf::FieldDescriptor*> chain;
    version_rules_ptr custom = {};  // for a selectable field of a definition
    std::string value;
    bool equal = true;
  };
  static bool compile(const kind_info& kind, term& t);

  std::vector<term> terms_;
};

}  // namespace troupe::api
