#include "api/codec/json_builder.hpp"

#include <algorithm>

#include "api/codec/json_text.hpp"
#include "api/values/utf8.hpp"

namespace troupe::api {
namespace {

// Bits of frame::seen after those of members.
constexpr std::size_t kind_bit = type_plan::member_limit;
constexpr std::size_t api_version_bit = kind_bit + 1;

// The elements of a STRINGS message, whose JSON is only the list.
const field_plan& string_items() {
  static const field_plan items = [] {
    field_plan plan;
    plan.number = form_field::items;
    plan.many = cardinality::list;
    plan.value = shape::string;
    return plan;
  }();
  return items;
}

// Returns true if the bit was set before.
bool mark(std::uint64_t (&bits)[2], std::size_t bit) {
  std::uint64_t& word = bits[bit / 64];
  const std::uint64_t mask = std::uint64_t{1} << (bit % 64);
  const bool before = (word & mask) != 0;
  word |= mask;
  return before;
}

// The type of a value of the field: "v1.Container", "string".
std::string go_type(const field_plan& field) {
  if (field.value != shape::message) return std::string(name_of(field.value));
  const std::string package = field.type->descriptor().file()->package();
  return package.substr(package.rfind('.') + 1) + "." + field.type->descriptor().name();
}

}  // namespace

// The wire form is about half as long as the text.
json_builder::json_builder(const type_plan& root, std::size_t document_bytes,
                           const decode_options& options)
    : options_(options),
      root_(root),
      budget_(options.memory_limit_bytes),
      out_(document_bytes / 2) {
  stack_.reserve(16);
}

// -- events -------------------------------------------------------------------------------------

bool json_builder::scalar(scalar_kind kind, std::string_view text) {
  if (skipped_ != 0) return true;
  if (raw_.open()) {
    raw_.scalar(kind, text);
    return true;
  }
  if (stack_.empty()) return fail("json: the document is not an object");
  const json_scalar given{kind, text};
  const wanted expected = want();
  if (expected == wanted::nothing) return type_meta(given);
  if (kind == scalar_kind::null) return write_null();
  const field_plan& field = *top().field;
  if (expected != wanted::one || field.value == shape::message) return mismatched(name_of(kind));
  if (!take(given)) return fail("json: the document describes too much");
  const std::size_t open = open_value();
  if (const auto wrong = write_scalar(out_, field.value, value_number(), given, zeros()))
    return fail_at(*wrong);
  close(open);
  value_done();
  return true;
}

bool json_builder::key(std::string_view name) {
  if (skipped_ != 0) return true;
  if (raw_.open()) {
    raw_.key(name);
    return true;
  }
  if (top().context == container::object) return member(name);
  top().key = name;
  if (strict()) keys_.push_back(name);
  return true;
}

bool json_builder::begin_object() {
  if (!enter()) return false;
  if (skipped_ != 0) return ++skipped_, true;
  if (raw_.open()) return raw_.begin('{'), true;
  if (stack_.empty()) {
    frame root;
    root.type = &root_;
    return push(root), true;
  }
  switch (want()) {
    case wanted::nothing:
      if (top().named != meta::no) return mismatched("object");
      skipped_ = 1;
      return true;
    case wanted::map: {
      frame map;
      map.context = container::map;
      map.field = top().field;
      map.open = open_value();
      return push(map), true;
    }
    case wanted::one:
      return begin_message(*top().field);
    case wanted::list:
      break;
  }
  return mismatched("object");
}

bool json_builder::begin_array() {
  if (!enter()) return false;
  if (skipped_ != 0) return ++skipped_, true;
  if (raw_.open()) return raw_.begin('['), true;
  if (stack_.empty()) return fail("json: the document is not an object");
  switch (want()) {
    case wanted::nothing:
      if (top().named != meta::no) return mismatched("array");
      skipped_ = 1;
      return true;
    case wanted::list:
    case wanted::one:
      return begin_list(*top().field);
    case wanted::map:
      break;
  }
  return mismatched("array");
}

bool json_builder::end_container(char bracket) {
  --depth_;
  if (skipped_ != 0) return --skipped_, true;
  if (raw_.open()) {
    raw_.end(bracket);
    return raw_.open() || end_raw();
  }
  const frame ended = top();
  if (ended.context == container::map) report_duplicate_keys();
  stack_.pop_back();
  if (ended.keep_empty) out_.end();
  close(ended.keep_empty ? ended.open - 1 : ended.open);
  ranges_.resize(ended.first_range);
  if (stack_.empty()) return true;
  if (ended.context == container::list && top().context == container::object)
    ranges_.push_back({top().field, ended.from, out_.position()});
  value_done();
  return true;
}

// -- members ------------------------------------------------------------------------------------

bool json_builder::member(std::string_view name) {
  frame& now = top();
  now.key = name;
  now.named = meta::no;
  now.again = false;
  now.field = now.type->find(name);
  if (now.field != nullptr) {
    now.again = mark(now.seen, now.field->index);
  } else if (stack_.size() == 1 || now.type->has_type_meta()) {
    if (name == "kind") now.named = meta::kind;
    if (name == "apiVersion") now.named = meta::api_version;
    if (now.named != meta::no)
      now.again = mark(now.seen, now.named == meta::kind ? kind_bit : api_version_bit);
  }
  if (now.again) note("duplicate field");
  if (now.field == nullptr && now.named == meta::no) note("unknown field");
  return true;
}

bool json_builder::type_meta(const json_scalar& given) {
  const meta named = top().named;
  if (named == meta::no || given.kind == scalar_kind::null) return true;
  if (given.kind != scalar_kind::string) return mismatched(name_of(given.kind));
  if (stack_.size() == 1) (named == meta::kind ? kind_ : api_version_) = given.text;
  return true;
}

// Removes the bytes of an earlier list with the same key.
bool json_builder::forget_list(const field_plan& field) {
  const auto first = ranges_.begin() + static_cast<std::ptrdiff_t>(top().first_range);
  const auto old =
      std::find_if(first, ranges_.end(), [&](const range& each) { return each.field == &field; });
  if (old == ranges_.end()) return true;
  if (++forgotten_ > limits::repeated_lists) return fail("json: too many duplicate fields");
  const std::size_t size = old->to - old->from;
  out_.erase(old->from, old->to);
  for (auto later = ranges_.erase(old); later != ranges_.end(); ++later) {
    later->from -= size;
    later->to -= size;
  }
  return true;
}

void json_builder::report_duplicate_keys() {
  const auto first = keys_.begin() + static_cast<std::ptrdiff_t>(top().first_key);
  std::sort(first, keys_.end());
  for (auto it = first; (it = std::adjacent_find(it, keys_.end())) != keys_.end(); ++it) {
    top().key = *it;
    note("duplicate field");
  }
  keys_.erase(first, keys_.end());
}

// -- values -------------------------------------------------------------------------------------

json_builder::wanted json_builder::want() const noexcept {
  const frame& now = stack_.back();
  if (now.field == nullptr) return wanted::nothing;
  if (now.context != container::object || now.field->many == cardinality::one) return wanted::one;
  return now.field->many == cardinality::list ? wanted::list : wanted::map;
}

bool json_builder::take(const json_scalar& given) {
  return given.kind == scalar_kind::string ? budget_.take_string(given.text.size())
                                           : budget_.take(sizeof(std::int64_t));
}

bool json_builder::enter() {
  return ++depth_ <= options_.depth_limit || fail("json: exceeded max depth");
}

void json_builder::push(frame next) {
  next.first_range = ranges_.size();
  next.first_key = keys_.size();
  stack_.push_back(next);
}

bool json_builder::begin_message(const field_plan& field) {
  if (field.value == shape::raw_json) return begin_raw('{');
  if (field.value != shape::message) return mismatched("object");
  if (!budget_.take(field.type->size_bytes())) return fail("json: the document describes too much");
  frame message;
  message.type = field.type;
  message.open = open_value() + 1;
  // A message that is always written has no meaning when it is empty.
  message.keep_empty = !field.always || top().context != container::object;
  out_.begin(value_number());
  push(message);
  return true;
}

bool json_builder::begin_list(const field_plan& field) {
  const bool elements = want() == wanted::list;
  if (!elements && field.value == shape::raw_json) return begin_raw('[');
  if (!elements && field.value != shape::strings) return mismatched("array");
  if (top().again && !forget_list(field)) return false;
  frame list;
  list.context = container::list;
  list.field = elements ? &field : &string_items();
  list.from = out_.position();
  list.open = open_value();
  if (!elements) {
    out_.begin(value_number());
    ++list.open;
    list.keep_empty = true;
  }
  push(list);
  return true;
}

bool json_builder::begin_raw(char bracket) {
  raw_open_ = open_value() + 1;
  out_.begin(value_number());
  raw_.clear();
  raw_.begin(bracket);
  return true;
}

bool json_builder::end_raw() {
  out_.bytes(form_field::raw, raw_.text());
  close(raw_open_);
  value_done();
  return true;
}

// Null means absent; in lists and maps, which cannot express that, it is the zero of the type.
bool json_builder::write_null() {
  const frame& now = top();
  if (now.context == container::object) return true;
  if (!budget_.take(now.field->type != nullptr ? now.field->type->size_bytes() : 0))
    return fail("json: the document describes too much");
  const std::size_t open = open_value();
  write_zero(out_, now.field->value, value_number());
  close(open);
  value_done();
  return true;
}

zero json_builder::zeros() noexcept {
  const frame& now = top();
  if (now.again) return zero::overriding;
  if (now.context != container::object) return zero::kept;
  // These are messages so that absent differs from zero, unless they are always present.
  const auto value = now.field->value;
  const bool is_message =
      value == shape::quantity || value == shape::int_or_string || value == shape::duration;
  return (is_message ? !now.field->always : now.field->presence) ? zero::kept : zero::absent;
}

// Opens the messages on the path to the current value.
std::size_t json_builder::open_value() {
  const frame& now = top();
  switch (now.context) {
    case container::object:
      for (const std::uint32_t number : now.field->through)
        out_.begin(number);
      return now.field->through.size();
    case container::list:
      return 0;
    case container::map:
      out_.begin(now.field->number);
      if (is_utf8(now.key)) {
        out_.bytes(form_field::map_key, now.key);
      } else {
        std::string mended;
        append_utf8(mended, now.key);
        out_.bytes(form_field::map_key, mended);
      }
      return 1;
  }
  return 0;
}

std::uint32_t json_builder::value_number() noexcept {
  return top().context == container::map ? form_field::map_value : top().field->number;
}

// Closes messages that were opened only for the value in them.
void json_builder::close(std::size_t count) {
  for (; count != 0; --count)
    out_.end_unless_empty();
}

void json_builder::value_done() {
  if (top().context == container::list) ++top().index;
}

// -- errors -------------------------------------------------------------------------------------

std::string json_builder::path() const {
  std::string out;
  for (const frame& each : stack_) {
    if (each.context == container::list) {
      out += '[' + std::to_string(each.index) + ']';
      continue;
    }
    if (!out.empty()) out += '.';
    out += each.key.substr(0, utf8_prefix(each.key, limits::path_key_bytes));
  }
  return out;
}

bool json_builder::fail(std::string reason) {
  failure_ = std::move(reason);
  return false;
}

// The place in Go's notation, without indices and keys: "ObjectMeta.metadata.labels", the type of
// the object that has the member, then the members on the path to it.
std::string json_builder::go_field() const {
  std::string_view holder;
  std::string members;
  for (const frame& each : stack_) {
    if (each.context != container::object) continue;
    holder = each.type->descriptor().name();
    members += '.';
    members += each.key.substr(0, utf8_prefix(each.key, limits::path_key_bytes));
  }
  return "Go struct field " + std::string(holder) + members;
}

// %s is replaced by the place, in Go's notation where the message is Go's.
bool json_builder::fail_at(const std::string& format) {
  std::string text = format;
  const auto at = text.find("%s");
  return fail(
      "json: " +
      text.replace(at, 2, text.starts_with("cannot unmarshal") ? go_field() : "field " + path()));
}

bool json_builder::mismatched(std::string_view given) {
  const wanted expected = want();
  if (expected == wanted::nothing) return fail_at(mismatch(given, "string"));  // kind, apiVersion
  std::string type = go_type(*top().field);
  if (expected == wanted::list) type.insert(0, "[]");
  if (expected == wanted::map) type.insert(0, "map[string]");
  return fail_at(mismatch(given, type));
}

void json_builder::note(std::string_view problem) {
  if (!strict() || problems_.size() >= limits::document_problems) return;
  std::string line = std::string(problem) + ' ' + quoted(path());
  if (std::find(problems_.begin(), problems_.end(), line) == problems_.end())
    problems_.push_back(std::move(line));
}

}  // namespace troupe::api
