#include "api/validation/field_errors.hpp"

#include "api/limits.hpp"

namespace troupe::api {

void field_errors::add(std::string_view reason, std::string_view field, std::string message,
                       std::string_view detail) {
  if (causes_.size() >= limits::causes) return;
  if (!detail.empty()) {
    message += ": ";
    message += detail;
  }
  const auto step = at.field(field);
  causes_.push_back({std::string(reason), std::move(message), at.str()});
}

void field_errors::required(std::string_view field, std::string_view detail) {
  add("FieldValueRequired", field, "Required value", detail);
}

void field_errors::invalid(std::string_view field, std::string_view value,
                           std::string_view detail) {
  add("FieldValueInvalid", field, "Invalid value: " + quoted(value), detail);
}

void field_errors::invalid_json(std::string_view field, std::string_view json,
                                std::string_view detail) {
  add("FieldValueInvalid", field, "Invalid value: " + std::string(json), detail);
}

void field_errors::duplicate(std::string_view field, std::string_view value) {
  add("FieldValueDuplicate", field, "Duplicate value: " + quoted(value), {});
}

void field_errors::duplicate_json(std::string_view json) {
  add("FieldValueDuplicate", {}, "Duplicate value: " + std::string(json), {});
}

void field_errors::wrong_type(std::string_view value, std::string_view detail) {
  add("FieldValueTypeInvalid", {}, "Invalid value: " + quoted(value), detail);
}

void field_errors::not_found(std::string_view field, std::string_view value) {
  add("FieldValueNotFound", field, "Not found: " + quoted(value), {});
}

void field_errors::forbidden(std::string_view field, std::string_view detail) {
  add("FieldValueForbidden", field, "Forbidden", detail);
}

void field_errors::too_long(std::string_view field, std::size_t limit_bytes) {
  add("FieldValueTooLong", field, "Too long",
      "may not be more than " + std::to_string(limit_bytes) + " bytes");
}

void field_errors::too_many(std::int64_t count, std::int64_t limit) {
  add("FieldValueTooMany", {}, "Too many: " + std::to_string(count),
      "must have at most " + std::to_string(limit) + " items");
}

void field_errors::at_most(std::string_view field, int size, int limit) {
  if (size <= limit) return;
  const auto step = at.field(field);
  too_many(size, limit);
}

void field_errors::each(std::string_view field, std::string_view value,
                        const error_messages& found) {
  for (const auto& complaint : found)
    invalid(field, value, complaint);
}

}  // namespace troupe::api
