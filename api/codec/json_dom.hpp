// JSON documents as trees, for code that works on any JSON: patches and merges. Only .cpp files of
// this room include it.
//
// Nesting is bounded when a document is parsed, so that code may recurse over the tree.
#pragma once

#include <rapidjson/document.h>

#include <cstddef>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "api/error.hpp"
#include "api/path.hpp"

namespace troupe::api {

using json_value = rapidjson::Value;
using json_document = rapidjson::Document;
using json_allocator = json_document::AllocatorType;

// Returns a 400 if the text is not JSON or nests deeper than limits::json_tree_depth; `description`
// names the text.
expected<void> parse_json(json_document& into, std::string_view text, std::string_view description);

// A short-lived tree: faster than a document, since its strings point into the text and a text of
// usual size needs no heap. Only copies of strings may outlive it: json_value::CopyFrom would keep
// pointers into it.
class local_document {
 public:
  // See parse_json.
  expected<void> read(std::string_view text, std::string_view description);

  json_document& operator*() noexcept { return tree_; }

 private:
  static constexpr std::size_t usual_bytes = 16'384;  // tree of 4 KB of text

  std::string text_;
  alignas(std::max_align_t) char room_[usual_bytes];
  json_allocator pool_{room_, sizeof room_};
  json_document tree_{&pool_};
};

std::string write_json(const json_value& value);
// Members sorted by name, each name once (the last counts), numbers in one spelling, as Go writes
// them. So equal values have equal texts.
void append_canonical_json(std::string& out, const json_value& value);
// The same with members in their order.
void append_ordered_json(std::string& out, const json_value& value);

inline std::string_view text_of(const json_value& string) {
  return {string.GetString(), string.GetStringLength()};
}
json_value make_text(std::string_view text, json_allocator& allocator);

// Null if `of` is not an object, or has no such member. Linear in the number of members.
const json_value* find_member(const json_value& of, std::string_view name);
json_value* find_member(json_value& of, std::string_view name);
// The member if it is a string, else empty.
std::string text_at(const json_value& of, std::string_view name);

// Ignores the order of members and compares numbers by value. At worst n log n.
bool same_json(const json_value& a, const json_value& b);

// Approximate size of the value as text; exact enough to bound copies.
std::size_t json_bytes(const json_value& value);

// Removes null members at every depth.
void strip_nulls(json_value& value);

// Adds `duplicate field "data.k"` for each repeated member; at most limits::document_problems. `at`
// is the path of the value.
void find_repeated(const json_value& in, field_path& at, std::vector<std::string>& out);

// An index of an object's members, for many look-ups: linear in total. A null value has none. The
// object must outlive it unchanged.
class member_index {
 public:
  explicit member_index(const json_value* object);

  const json_value* find(std::string_view name) const;

 private:
  const json_value* object_;
  std::unordered_map<std::string_view, const json_value*> index_;  // only for larger objects
};

// An index of an object's members for many look-ups, replacements and removals: linear in total.
// The object is valid again after `finish`.
class json_members {
 public:
  explicit json_members(json_value& object);

  json_value* find(std::string_view name);
  void set(std::string_view name, json_value&& value, json_allocator& allocator);
  void erase(std::string_view name);
  void finish(json_allocator& allocator);

 private:
  std::size_t position(std::string_view name) const;

  json_value& object_;
  std::unordered_map<std::string, std::size_t> index_;
  std::vector<bool> erased_;
  bool any_erased_ = false;
};

}  // namespace troupe::api
