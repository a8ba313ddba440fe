// The plan of a message type for converting it between JSON and protobuf's wire format: the schema,
// laid out for the loops of the codecs. The codecs use no message objects: they turn text into wire
// bytes, which protobuf's generated code parses, and vice versa.
//
// Made once for each type, then read-only, at a fixed address for the life of the process; thread
// safe.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "api/fwd.hpp"
#include "api/schema/options.pb.h"

namespace troupe::api {

class type_plan;

enum class shape : std::uint8_t {
  boolean,
  int32,
  int64,
  number,  // double
  string,
  bytes,  // base64 in JSON
  message,
  time,
  micro_time,
  duration,
  quantity,
  int_or_string,
  raw_json,
  strings,
};

enum class cardinality : std::uint8_t { one, list, map };

// Field numbers of the messages whose JSON is not an object; the same in each such message.
namespace form_field {
inline constexpr std::uint32_t time_seconds = 1, time_nanos = 2;
inline constexpr std::uint32_t duration_nanos = 1;
inline constexpr std::uint32_t quantity_string = 1;
inline constexpr std::uint32_t choice_type = 1, choice_int = 2, choice_string = 3;
inline constexpr std::uint32_t raw = 1;
inline constexpr std::uint32_t items = 1;
inline constexpr std::uint32_t map_key = 1, map_value = 2;
}  // namespace form_field

struct field_plan {
  std::string name;  // in JSON
  std::string key;   // `"name":`
  std::uint32_t number = 0;
  std::uint16_t index = 0;  // among the members of the JSON object
  cardinality many = cardinality::one;
  shape value = shape::string;      // of the field, of a list's elements, of a map's values
  const type_plan* type = nullptr;  // if `value` is a message
  bool inlined = false;             // its members belong to the parent's JSON object
  bool presence = false;            // zero differs from absent
  bool always = false;              // written even if absent
  // The field numbers of the inlined messages on the path from the object to the field.
  std::vector<std::uint32_t> through;
};

class type_plan {
 public:
  static constexpr std::size_t member_limit = 126;

  // Made at the first call for a type, with the plans of all types below it.
  static const type_plan& of(const google::protobuf::Descriptor& type);

  const google::protobuf::Descriptor& descriptor() const noexcept { return *descriptor_; }
  shape form() const noexcept { return form_; }
  // Its objects have kind and apiVersion.
  bool has_type_meta() const noexcept { return has_type_meta_; }
  // The memory of an empty message of the type, with the messages inlined into it.
  std::size_t size_bytes() const noexcept { return size_bytes_; }

  // The member of the JSON object; null if there is none.
  const field_plan* find(std::string_view name) const noexcept;

  // The message's own field, with inlined messages as fields; null if there is none.
  const field_plan* find(std::uint32_t number) const noexcept {
    return number < by_number_.size() ? by_number_[number] : nullptr;
  }
  // Greater than the numbers of all own fields.
  std::uint32_t number_limit() const noexcept {
    return static_cast<std::uint32_t>(by_number_.size());
  }
  // Own fields that are written even if absent, by rising number.
  const std::vector<const field_plan*>& always() const noexcept { return always_; }

 private:
  friend class plan_registry;

  // An entry of the hash table: `member` is null in an empty one.
  struct slot {
    std::uint32_t hash = 0;
    const field_plan* member = nullptr;
  };

  void index_names();
  static std::uint32_t hash(std::string_view name) noexcept;

  const google::protobuf::Descriptor* descriptor_ = nullptr;
  shape form_ = shape::message;
  bool has_type_meta_ = false;
  std::size_t size_bytes_ = 0;
  std::vector<field_plan> fields_;   // own
  std::vector<field_plan> members_;  // of the JSON object
  std::vector<const field_plan*> by_number_;
  std::vector<const field_plan*> always_;
  std::vector<slot> slots_;  // open addressing by hash of the name; a power of two
};

}  // namespace troupe::api
