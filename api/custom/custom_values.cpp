#include "api/custom/custom_values.hpp"

#include <span>

#include "api/codec/codec.hpp"
#include "api/invariant.hpp"
#include "api/schema/meta_object.pb.h"

namespace troupe::api {
namespace {

using step = json_path_step;

const json_value* first_of(std::span<const step> steps, const json_value& in);

bool compares(const json_value& value, step::comparison how, const json_value& literal) {
  using enum step::comparison;
  if (how == equal) return same_json(value, literal);
  if (how == not_equal) return !same_json(value, literal);
  int order = 0;
  if (value.IsNumber() && literal.IsNumber()) {
    const double a = value.GetDouble(), b = literal.GetDouble();
    order = a < b ? -1 : a > b ? 1 : 0;
  } else if (value.IsString() && literal.IsString()) {
    order = text_of(value).compare(text_of(literal));
  } else {
    return false;
  }
  if (how == less) return order < 0;
  if (how == less_equal) return order <= 0;
  return how == greater ? order > 0 : order >= 0;
}

bool passes(const step& filter, const json_value& element) {
  const auto* found = first_of(filter.in_element, element);
  if (found == nullptr) return false;
  if (filter.compare == step::comparison::exists) return true;
  json_document literal;
  return parse_json(literal, filter.literal, "the filter").has_value() &&
         compares(*found, filter.compare, literal);
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
      if (!in.IsObject()) return nullptr;
      const auto found = in.FindMember(rapidjson::StringRef(
          next.name.data(), static_cast<rapidjson::SizeType>(next.name.size())));
      return found == in.MemberEnd() ? nullptr : first_of(rest, found->value);
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

void write_rest(CustomBody& content, const json_value& rest) {
  if (rest.ObjectEmpty()) return content.clear_rest();
  std::string text;
  append_canonical_json(text, rest);
  content.set_rest(std::move(text));
}

}  // namespace troupe::api
