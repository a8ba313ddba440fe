#include "api/custom/custom_values.hpp"

#include <span>

#include "api/codec/codec.hpp"
#include "api/invariant.hpp"
#include "api/schema/meta_object.pb.h"

namespace troupe::api {
namespace {

using step = json_path_step;

const json_value* first_of(std::span<const step> steps, const json_value& in);

// Compares the value with the literal: below, at or above 0; nullopt if the types differ.
std::optional<int> order_of(const json_value& value,
                            const std::variant<std::string, double, bool>& literal) {
  if (const auto* number = std::get_if<double>(&literal); number && value.IsNumber()) {
    const double own = value.GetDouble();
    return own < *number ? -1 : own > *number ? 1 : 0;
  }
  if (const auto* text = std::get_if<std::string>(&literal); text && value.IsString())
    return text_of(value).compare(*text);
  if (const auto* flag = std::get_if<bool>(&literal); flag && value.IsBool())
    return static_cast<int>(value.GetBool()) - static_cast<int>(*flag);
  return std::nullopt;
}

bool passes(const step& filter, const json_value& element) {
  using enum step::comparison;
  const auto* found = first_of(filter.in_element, element);
  if (found == nullptr || filter.compare == exists) return found != nullptr;
  const auto order = order_of(*found, filter.literal);
  if (!order) return filter.compare == not_equal;
  switch (filter.compare) {
    case exists:
      break;
    case equal:
      return *order == 0;
    case not_equal:
      return *order != 0;
    case less:
      return *order < 0;
    case less_equal:
      return *order <= 0;
    case greater:
      return *order > 0;
    case greater_equal:
      return *order >= 0;
  }
  return true;
}

const json_value* in_each(std::span<const step> rest, const json_value& in, const step* filter) {
  const auto one = [&](const json_value& element) -> const json_value* {
    return filter != nullptr && !passes(*filter, element) ? nullptr : first_of(rest, element);
  };
  if (in.IsArray()) {
    for (const auto& each : in.GetArray())
      if (const auto* found = one(each)) return found;
  } else if (in.IsObject()) {
    for (const auto& each : in.GetObject())
      if (const auto* found = one(each.value)) return found;
  }
  return nullptr;
}

const json_value* first_of(std::span<const step> steps, const json_value& in) {
  if (steps.empty()) return &in;
  const auto& next = steps.front();
  const auto rest = steps.subspan(1);
  switch (next.is) {
    case step::type::member: {
      const auto* found = find_member(in, next.name);
      return found == nullptr ? nullptr : first_of(rest, *found);
    }
    case step::type::index: {
      if (!in.IsArray()) return nullptr;
      const auto size = static_cast<std::int64_t>(in.Size());
      const auto at = next.index < 0 ? size + next.index : next.index;
      if (at < 0 || at >= size) return nullptr;
      return first_of(rest, in[static_cast<rapidjson::SizeType>(at)]);
    }
    case step::type::every:
      return in_each(rest, in, nullptr);
    case step::type::filter:
      return in_each(rest, in, &next);
  }
  return nullptr;
}

}  // namespace

const json_value* custom_values::first(const json_path& path) {
  const std::span<const step> steps{path.steps()};
  if (path.starts_with("metadata")) return first_of(steps.subspan(1), metadata());
  return first_of(steps, rest());
}

const json_value& custom_values::rest() {
  if (!rest_) read_rest(rest_.emplace(), content_);
  return *rest_;
}

const json_value& custom_values::metadata() {
  if (!metadata_) {
    const auto read =
        parse_json(metadata_.emplace(), encode_json(content_.metadata(), {}, {}), "metadata");
    ensure(read.has_value(), "the metadata that we write can be read");
  }
  return *metadata_;
}

std::string plain_text(const json_value* value) {
  if (value == nullptr) return {};
  if (value->IsString()) return std::string{text_of(*value)};
  return value->IsBool() || value->IsNumber() ? write_json(*value) : std::string{};
}

void read_rest(json_document& into, const CustomBody& content) {
  if (content.rest().empty()) {
    into.SetObject();
    return;
  }
  const auto read = parse_json(into, content.rest(), "the object");
  ensure(read.has_value() && into.IsObject(), "the rest of a custom object is a JSON object");
}

void read_rest(local_document& into, const CustomBody& content) {
  const auto read = into.read(content.rest().empty() ? "{}" : content.rest(), "the object");
  ensure(read.has_value() && (*into).IsObject(), "the rest of a custom object is a JSON object");
}

void write_rest(CustomBody& content, const json_value& rest) {
  if (rest.ObjectEmpty()) return content.clear_rest();
  std::string text;
  append_canonical_json(text, rest);
  content.set_rest(std::move(text));
}

}  // namespace troupe::api
