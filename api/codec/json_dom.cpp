#include "api/codec/json_dom.hpp"

#include <rapidjson/error/en.h>
#include <rapidjson/reader.h>
#include <rapidjson/stringbuffer.h>
#include <rapidjson/writer.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <unordered_set>
#include <utility>

#include "api/codec/json_text.hpp"
#include "api/limits.hpp"
#include "api/values/utf8.hpp"

namespace troupe::api {
namespace {

constexpr std::size_t nowhere = static_cast<std::size_t>(-1);
// Objects with this many members get an index.
constexpr std::size_t indexed_from = 16;

// Builds a document and parses its numbers itself: RapidJSON parses "0e111" as 1.3e294, and with
// less precision it cannot parse its own output exactly. Refuses numbers that are too large and
// values that nest too deep.
class exact_numbers {
 public:
  using size = rapidjson::SizeType;

  explicit exact_numbers(json_document& to) : to_(to) {}

  bool RawNumber(const char* text, size length, bool) {
    const char* end = text + length;
    std::int64_t integer = 0;
    if (const auto read = std::from_chars(text, end, integer); read.ptr == end && good(read))
      return to_.Int64(integer);
    std::uint64_t large = 0;
    if (const auto read = std::from_chars(text, end, large); read.ptr == end && good(read))
      return to_.Uint64(large);
    double value = 0;
    // Too small is zero, too large is infinite; from_chars does not tell which.
    if (!good(std::from_chars(text, end, value)))
      value = std::strtod(std::string(text, length).c_str(), nullptr);
    return std::isfinite(value) && to_.Double(value);
  }

  bool Null() { return to_.Null(); }
  bool Bool(bool value) { return to_.Bool(value); }
  bool Int(int value) { return to_.Int(value); }
  bool Uint(unsigned value) { return to_.Uint(value); }
  bool Int64(std::int64_t value) { return to_.Int64(value); }
  bool Uint64(std::uint64_t value) { return to_.Uint64(value); }
  bool Double(double value) { return to_.Double(value); }
  bool String(const char* text, size length, bool copy) { return to_.String(text, length, copy); }
  bool Key(const char* text, size length, bool copy) { return to_.Key(text, length, copy); }
  bool StartObject() { return deeper() && to_.StartObject(); }
  bool EndObject(size members) {
    --depth_;
    return to_.EndObject(members);
  }
  bool StartArray() { return deeper() && to_.StartArray(); }
  bool EndArray(size elements) {
    --depth_;
    return to_.EndArray(elements);
  }

  bool too_deep() const noexcept { return depth_ > limits::json_tree_depth; }

 private:
  static bool good(const std::from_chars_result& read) { return read.ec == std::errc(); }

  bool deeper() { return ++depth_ <= limits::json_tree_depth; }

  json_document& to_;
  std::size_t depth_ = 0;
};

std::string_view without_mark(std::string_view text) {
  constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";
  if (text.starts_with(byte_order_mark)) text.remove_prefix(byte_order_mark.size());
  return text;
}

// Recursive, which is faster than RapidJSON's own stack: exact_numbers bounds the depth.
template <unsigned flags, class Stream>
expected<void> fill_from(Stream in, std::size_t size, std::string_view description,
                         json_document& into) {
  const auto wrong = [&](const std::string& reason) {
    return fail(bad_request("error decoding " + std::string(description) + ": " + reason));
  };
  rapidjson::ParseResult result;
  bool too_deep = false;
  auto fill = [&](json_document& to) {
    exact_numbers taken(to);
    result = rapidjson::Reader().Parse<flags | rapidjson::kParseNumbersAsStringsFlag>(in, taken);
    too_deep = taken.too_deep();
    return !result.IsError();
  };
  into.Populate(fill);
  if (too_deep)
    return wrong("nested deeper than " + std::to_string(limits::json_tree_depth) + " levels");
  // A zero byte does not end the text.
  if (!result.IsError() && in.Tell() != size)
    result.Set(rapidjson::kParseErrorDocumentRootNotSingular, in.Tell());
  if (!result.IsError()) return {};
  const auto code = result.Code() == rapidjson::kParseErrorTermination
                        ? rapidjson::kParseErrorNumberTooBig
                        : result.Code();
  return wrong(std::string(rapidjson::GetParseError_En(code)) + " At byte " +
               std::to_string(result.Offset()) + ".");
}

using member_list = std::vector<const json_value::Member*>;

member_list members_of(const json_value& object) {
  member_list members;
  members.reserve(object.MemberCount());
  for (const auto& member : object.GetObject())
    members.push_back(&member);
  return members;
}

member_list sorted_members(const json_value& object) {
  auto members = members_of(object);
  const auto before = [](const auto* a, const auto* b) {
    return text_of(a->name) < text_of(b->name);
  };
  // Usually they are: stored text is canonical.
  if (!std::is_sorted(members.begin(), members.end(), before))
    std::stable_sort(members.begin(), members.end(), before);
  return members;
}

void append_canonical_number(std::string& out, const json_value& number) {
  // As Go: no fraction for whole numbers.
  constexpr double exact_integers = 9007199254740992.0;
  if (number.IsInt64()) return append_number(out, number.GetInt64());
  if (number.IsUint64()) {
    out += std::to_string(number.GetUint64());
    return;
  }
  const double value = number.GetDouble();
  if (std::trunc(value) == value && std::abs(value) < exact_integers)
    return append_number(out, static_cast<std::int64_t>(value));
  append_number(out, value);
}

void append_scalar(std::string& out, const json_value& value) {
  if (value.IsString()) {
    append_json_string(out, text_of(value));
  } else if (value.IsNumber()) {
    append_canonical_number(out, value);
  } else {
    out += value.IsNull() ? "null" : value.IsTrue() ? "true" : "false";
  }
}

using append_value = void (*)(std::string& out, const json_value& value);

// Of neighbours with the same name the last one counts.
void append_members(std::string& out, const member_list& members, append_value append) {
  char opening = '{';
  for (std::size_t i = 0; i < members.size(); ++i) {
    const bool again =
        i + 1 < members.size() && text_of(members[i]->name) == text_of(members[i + 1]->name);
    if (again) continue;
    out += std::exchange(opening, ',');
    append_json_string(out, text_of(members[i]->name));
    out += ':';
    append(out, members[i]->value);
  }
  out += opening == '{' ? "{}" : "}";
}

void append_elements(std::string& out, const json_value& list, append_value append) {
  char opening = '[';
  for (const auto& element : list.GetArray()) {
    out += std::exchange(opening, ',');
    append(out, element);
  }
  out += opening == '[' ? "[]" : "]";
}

}  // namespace

expected<void> parse_json(json_document& into, std::string_view text,
                          std::string_view description) {
  // RapidJSON is fastest with a zero-terminated text.
  const std::string bytes(without_mark(text));
  return fill_from<rapidjson::kParseNoFlags>(rapidjson::StringStream(bytes.c_str()), bytes.size(),
                                             description, into);
}

expected<void> local_document::read(std::string_view text, std::string_view description) {
  text_ = without_mark(text);
  return fill_from<rapidjson::kParseInsituFlag>(rapidjson::InsituStringStream(text_.data()),
                                                text_.size(), description, tree_);
}

std::string write_json(const json_value& value) {
  rapidjson::StringBuffer buffer;
  rapidjson::Writer<rapidjson::StringBuffer> writer(buffer);
  value.Accept(writer);
  return {buffer.GetString(), buffer.GetSize()};
}

void append_canonical_json(std::string& out, const json_value& value) {
  if (value.IsObject()) {
    append_members(out, sorted_members(value), &append_canonical_json);
  } else if (value.IsArray()) {
    append_elements(out, value, &append_canonical_json);
  } else {
    append_scalar(out, value);
  }
}

void append_ordered_json(std::string& out, const json_value& value) {
  if (value.IsObject()) {
    append_members(out, members_of(value), &append_ordered_json);
  } else if (value.IsArray()) {
    append_elements(out, value, &append_ordered_json);
  } else {
    append_scalar(out, value);
  }
}

json_value make_text(std::string_view text, json_allocator& allocator) {
  return json_value(text.data(), static_cast<rapidjson::SizeType>(text.size()), allocator);
}

bool same_json(const json_value& a, const json_value& b) {
  if (a.IsObject() && b.IsObject()) {
    if (a.MemberCount() != b.MemberCount()) return false;
    const auto in_a = sorted_members(a);
    const auto in_b = sorted_members(b);
    return std::equal(in_a.begin(), in_a.end(), in_b.begin(), [](const auto* x, const auto* y) {
      return text_of(x->name) == text_of(y->name) && same_json(x->value, y->value);
    });
  }
  if (a.IsArray() && b.IsArray())
    return std::equal(a.Begin(), a.End(), b.Begin(), b.End(), same_json);
  return a == b;
}

std::size_t json_bytes(const json_value& value) {
  std::size_t bytes = 2;
  if (value.IsString()) {
    bytes += value.GetStringLength();
  } else if (value.IsArray()) {
    for (const auto& element : value.GetArray())
      bytes += json_bytes(element) + 1;
  } else if (value.IsObject()) {
    for (const auto& member : value.GetObject())
      bytes += member.name.GetStringLength() + 4 + json_bytes(member.value);
  } else {
    bytes += 6;
  }
  return bytes;
}

void strip_nulls(json_value& value) {
  if (value.IsArray()) {
    for (auto& element : value.GetArray())
      strip_nulls(element);
  } else if (value.IsObject()) {
    auto end = value.MemberBegin();
    for (auto at = value.MemberBegin(); at != value.MemberEnd(); ++at) {
      if (at->value.IsNull()) continue;
      strip_nulls(at->value);
      if (end != at) {
        end->name = at->name;
        end->value = at->value;
      }
      ++end;
    }
    if (end != value.MemberEnd()) value.EraseMember(end, value.MemberEnd());
  }
}

void find_repeated(const json_value& in, field_path& at, std::vector<std::string>& out) {
  if (in.IsArray()) {
    for (rapidjson::SizeType i = 0; i < in.Size(); ++i) {
      const auto step = at.index(i);
      find_repeated(in[i], at, out);
    }
  } else if (in.IsObject()) {
    constexpr std::size_t few = 8;
    std::unordered_set<std::string_view> seen;
    const auto first = in.MemberBegin();
    for (auto member = first; member != in.MemberEnd(); ++member) {
      const auto name = text_of(member->name);
      const auto step = at.field(name.substr(0, utf8_prefix(name, limits::path_key_bytes)));
      const bool again = in.MemberCount() > few ? !seen.insert(name).second
                                                : std::any_of(first, member, [name](const auto& m) {
                                                    return text_of(m.name) == name;
                                                  });
      if (again && out.size() < limits::document_problems)
        out.push_back("duplicate field " + quoted(at.str()));
      find_repeated(member->value, at, out);
    }
  }
}

const json_value* find_member(const json_value& of, std::string_view name) {
  if (!of.IsObject()) return nullptr;
  const auto found = of.FindMember(
      rapidjson::StringRef(name.data(), static_cast<rapidjson::SizeType>(name.size())));
  return found == of.MemberEnd() ? nullptr : &found->value;
}

json_value* find_member(json_value& of, std::string_view name) {
  return const_cast<json_value*>(find_member(std::as_const(of), name));
}

std::string text_at(const json_value& of, std::string_view name) {
  const auto* found = find_member(of, name);
  return found != nullptr && found->IsString() ? std::string{text_of(*found)} : std::string{};
}

member_index::member_index(const json_value* object) : object_(object) {
  if (object == nullptr || !object->IsObject() || object->MemberCount() < indexed_from) return;
  index_.reserve(object->MemberCount());
  for (const auto& each : object->GetObject())
    index_.try_emplace(text_of(each.name), &each.value);
}

const json_value* member_index::find(std::string_view name) const {
  if (index_.empty()) return object_ == nullptr ? nullptr : find_member(*object_, name);
  const auto found = index_.find(name);
  return found == index_.end() ? nullptr : found->second;
}

json_members::json_members(json_value& object) : object_(object) {
  erased_.assign(object.MemberCount(), false);
  if (object.MemberCount() < indexed_from) return;
  for (std::size_t i = 0; i < object.MemberCount(); ++i)
    index_.insert_or_assign(std::string(text_of((object.MemberBegin() + i)->name)), i);
}

std::size_t json_members::position(std::string_view name) const {
  if (!index_.empty()) {
    const auto found = index_.find(std::string(name));
    return found == index_.end() || erased_[found->second] ? nowhere : found->second;
  }
  for (std::size_t i = 0; i < object_.MemberCount(); ++i)
    if (!erased_[i] && text_of((object_.MemberBegin() + i)->name) == name) return i;
  return nowhere;
}

json_value* json_members::find(std::string_view name) {
  const auto at = position(name);
  return at == nowhere ? nullptr : &(object_.MemberBegin() + at)->value;
}

void json_members::set(std::string_view name, json_value&& value, json_allocator& allocator) {
  if (auto* found = find(name)) {
    *found = value;
    return;
  }
  object_.AddMember(make_text(name, allocator), value, allocator);
  erased_.push_back(false);
  const auto last = object_.MemberCount() - 1;
  if (!index_.empty()) {
    index_.emplace(name, last);
  } else if (object_.MemberCount() >= indexed_from) {
    for (std::size_t i = 0; i <= last; ++i)
      if (!erased_[i]) index_.emplace(text_of((object_.MemberBegin() + i)->name), i);
  }
}

void json_members::erase(std::string_view name) {
  const auto at = position(name);
  if (at == nowhere) return;
  erased_[at] = true;
  any_erased_ = true;
}

void json_members::finish(json_allocator& allocator) {
  if (!any_erased_) return;
  json_value remaining(rapidjson::kObjectType);
  for (std::size_t i = 0; i < erased_.size(); ++i) {
    auto member = object_.MemberBegin() + i;
    if (!erased_[i]) remaining.AddMember(member->name, member->value, allocator);
  }
  object_ = remaining;
  index_.clear();
  erased_.assign(object_.MemberCount(), false);
  any_erased_ = false;
}

}  // namespace troupe::api
