// Builds the JSON document of a view, member by member.
#pragma once

#include <rapidjson/stringbuffer.h>
#include <rapidjson/writer.h>

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>

#include "runtime/clock.hpp"

namespace troupe::server {

class json_writer {
 public:
  json_writer& begin_object() {
    out_.StartObject();
    return *this;
  }
  json_writer& begin_object(std::string_view name) { return key(name).begin_object(); }
  json_writer& end_object() {
    out_.EndObject();
    return *this;
  }
  json_writer& begin_array() {
    out_.StartArray();
    return *this;
  }
  json_writer& begin_array(std::string_view name) { return key(name).begin_array(); }
  json_writer& end_array() {
    out_.EndArray();
    return *this;
  }
  json_writer& key(std::string_view name) {
    out_.Key(name.data(), static_cast<rapidjson::SizeType>(name.size()));
    return *this;
  }

  json_writer& value(std::string_view text) {
    out_.String(text.data(), static_cast<rapidjson::SizeType>(text.size()));
    return *this;
  }
  template <class T>
  json_writer& value(T number) requires std::is_arithmetic_v<T> {
    if constexpr (std::is_same_v<T, bool>) {
      out_.Bool(number);
    } else if constexpr (std::is_floating_point_v<T>) {
      out_.Double(number);
    } else if constexpr (std::is_signed_v<T>) {
      out_.Int64(number);
    } else {
      out_.Uint64(number);
    }
    return *this;
  }
  // In seconds: the member's name ends with "Seconds".
  json_writer& value(runtime::duration time) {
    return value(std::chrono::duration<double>{time}.count());
  }
  template <class T>
  json_writer& member(std::string_view name, const T& content) {
    return key(name).value(content);
  }

  std::string text() const { return {buffer_.GetString(), buffer_.GetSize()}; }

 private:
  rapidjson::StringBuffer buffer_;
  rapidjson::Writer<rapidjson::StringBuffer, rapidjson::UTF8<>, rapidjson::UTF8<>,
                    rapidjson::CrtAllocator, rapidjson::kWriteNanAndInfFlag>
      out_{buffer_};
};

}  // namespace troupe::server
