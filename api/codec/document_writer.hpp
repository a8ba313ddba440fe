// Writes a JSON document, without white space: out.object([&] { out.field("kind", "Status"); … }).
#pragma once

#include <rapidjson/stringbuffer.h>
#include <rapidjson/writer.h>

#include <concepts>
#include <string>
#include <string_view>

namespace troupe::api {

class document_writer {
 public:
  // The document, or an element of a list; `fill` writes its members.
  template <class F>
  void object(F fill) {
    out_.StartObject();
    fill();
    out_.EndObject();
  }
  void text(std::string_view value) {
    out_.String(value.data(), static_cast<rapidjson::SizeType>(value.size()));
  }
  // The value is a JSON object.
  void raw(std::string_view json) {
    out_.RawValue(json.data(), json.size(), rapidjson::kObjectType);
  }

  // -- members of an object -----------------------------------------------------------------------

  template <class F>
  void object(std::string_view name, F fill) {
    key(name);
    object(fill);
  }
  // `fill` writes the elements.
  template <class F>
  void list(std::string_view name, F fill) {
    key(name);
    out_.StartArray();
    fill();
    out_.EndArray();
  }
  template <class Strings>
  void strings(std::string_view name, const Strings& all) {
    list(name, [&] {
      for (const auto& each : all)
        text(each);
    });
  }
  void field(std::string_view name, std::string_view value) {
    key(name);
    text(value);
  }
  void flag(std::string_view name, bool value) {
    key(name);
    out_.Bool(value);
  }
  template <std::integral Number>
  void number(std::string_view name, Number value) {
    key(name);
    if constexpr (std::signed_integral<Number>)
      out_.Int64(value);
    else
      out_.Uint64(value);
  }
  void raw(std::string_view name, std::string_view json) {
    key(name);
    raw(json);
  }
  // Only the name: one value must follow.
  void key(std::string_view name) {
    out_.Key(name.data(), static_cast<rapidjson::SizeType>(name.size()));
  }

  std::string take() const { return {buffer_.GetString(), buffer_.GetSize()}; }

 private:
  rapidjson::StringBuffer buffer_;
  rapidjson::Writer<rapidjson::StringBuffer> out_{buffer_};
};

}  // namespace troupe::api
