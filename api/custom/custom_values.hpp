// Looks up the values at JSON paths in an object of a custom kind. Only .cpp files of the room
// include it.
#pragma once

#include <optional>

#include "api/codec/json_dom.hpp"
#include "api/custom/json_path.hpp"
#include "api/schema/custom.pb.h"

namespace troupe::api {

// Parses the parts of the object on demand, once. The body must outlive it.
class custom_values {
 public:
  explicit custom_values(const CustomBody& content) : content_(content) {}

  // The first value at the path; null if there is none.
  const json_value* first(const json_path& path);

 private:
  const json_value& rest();
  const json_value& metadata();

  const CustomBody& content_;
  std::optional<json_document> rest_, metadata_;
};

// The text that a selector compares; empty unless the value is a string, number or boolean.
std::string plain_text(const json_value* value);

// CustomBody.rest as a tree; an empty object if it is absent.
void read_rest(json_document& into, const CustomBody& content);
void read_rest(local_document& into, const CustomBody& content);
void write_rest(CustomBody& content, const json_value& rest);

}  // namespace troupe::api
