// JSON documents as trees, for what works on any JSON: patches and merges. Only .cpp files of this
// room include it.
//
// Nesting is bounded when a document is read, so that what walks the tree may recurse.
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

// 400 where the text is no JSON or nests deeper than limits::json_tree_depth; `description` names
// it.
expected<void> parse_json(json_document& into, std::string_view text, std::string_view description);

// A tree for the time of a call: quicker than a document, since its strings are those of the text
// and a text of usual size takes no room from the heap. Nothing of it may leave it but copies of
// texts: json_value::CopyFrom would keep its strings.
class local_document {
 public:
  // As parse_json.
  expected<void> read(std::string_view text, std::string_view description);

  json_document& operator*() noexcept { return tree_; }

 private:
  static constexpr std::size_t usual_bytes = 16'384;  // of the tree of 4 KB of text

  std::string text_;
  alignas(std::max_align_t) char room_[usual_bytes];
  json_allocator pool_{room_, sizeof room_};
  json_document tree_{&pool_};
};

std::string write_json(const json_value& value);
// With members in order of name, each name once (the last counts), and numbers in one spelling, as
// Go writes them. So equal values have equal texts.
void append_canonical_json(std::string& out, const json_value& value);

inline std::string_view text_of(const json_value& string) {
  return {string.GetString(), string.GetStringLength()};
}
json_value make_text(std::string_view text, json_allocator& allocator);

// Null where `of` is no object, or has no such member. Looks at all members.
const json_value* find_member(const json_value& of, std::string_view name);
json_value* find_member(json_value& of, std::string_view name);

// Members in any order, numbers by their value. At worst n log n.
bool same_json(const json_value& a, const json_value& b);

// About the bytes of the value as text; exact enough to bound copies.
std::size_t json_bytes(const json_value& value);

// Removes members that are null, at every depth.
void strip_nulls(json_value& value);

// Adds `duplicate field "data.k"` for each member that comes twice; limits::document_problems at
// most. `at` stands at the value.
void find_repeated(const json_value& in, field_path& at, std::vector<std::string>& out);

// The members of an object, for who looks up as many as it has: linear in the end. A null has none.
// The object must outlive it unchanged.
class member_index {
 public:
  explicit member_index(const json_value* object);

  const json_value* find(std::string_view name) const;

 private:
  const json_value* object_;
  std::unordered_map<std::string_view, const json_value*> index_;  // of larger objects
};

// An object whose members are looked up, replaced and removed many times: linear in the end,
// however many there are. The object is whole again when `finish` has been called.
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
