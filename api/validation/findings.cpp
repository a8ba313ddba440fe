#include "api/validation/findings.hpp"

#include "api/limits.hpp"

namespace troupe::api {

void findings::add(std::string_view reason, std::string_view field, std::string message,
                   std::string_view detail) {
  if (causes_.size() >= limits::causes) return;
  if (!detail.empty()) {
    message += ": ";
    message += detail;
  }
  const auto step = at.field(field);
  causes_.push_back({std::string(reason), std::move(message), at.str()});
}

void findings::required(std::string_view field, std::string_view detail) {
  add("FieldValueRequired", field, "Required value", detail);
}

void findings::invalid(std::string_view field, std::string_view value, std::string_view detail) {
  add("FieldValueInvalid", field, "Invalid value: " + quoted(value), detail);
}

void findings::invalid_json(std::string_view field, std::string_view json,
                            std::string_view detail) {
  add("FieldValueInvalid", field, "Invalid value: " + std::string(json), detail);
}

void findings::duplicate(std::string_view field, std::string_view value) {
  add("FieldValueDuplicate", field, "Duplicate value: " + quoted(value), {});
}

void findings::duplicate_json(std::string_view json) {
  add("FieldValueDuplicate", {}, "Duplicate value: " + std::string(json), {});
}

void findings::wrong_type(std::string_view value, std::string_view detail) {
  add("FieldValueTypeInvalid", {}, "Invalid value: " + quoted(value), detail);
}

void findings::not_found(std::string_view field, std::string_view value) {
  add("FieldValueNotFound", field, "Not found: " + quoted(value), {});
}

void findings::forbidden(std::string_view field, std::string_view detail) {
  add("FieldValueForbidden", field, "Forbidden", detail);
}

void findings::too_long(std::string_view field, std::size_t limit_bytes) {
  add("FieldValueTooLong", field, "Too long",
      "may not be more than " + std::to_string(limit_bytes) + " bytes");
}

void findings::too_many(std::int64_t count, std::int64_t limit) {
  add("FieldValueTooMany", {}, "Too many: " + std::to_string(count),
      "must have at most " + std::to_string(limit) + " items");
}

void findings::at_most(std::string_view field, int size, int limit) {
  if (size <= limit) return;
  const auto step = at.field(field);
  too_many(size, limit);
}

void findings::each(std::string_view field, std::string_view value, const complaints& found) {
  for (const auto& complaint : found)
    invalid(field, value, complaint);
}

}  // namespace troupe::api
