// Parses JSON text to events. Adapts RapidJSON to the API: no recursion at any nesting, numbers as
// text, strings unescaped in place.
#pragma once

#include <rapidjson/error/en.h>
#include <rapidjson/reader.h>

#include <cstring>
#include <optional>
#include <string>
#include <string_view>

#include "api/codec/json_special.hpp"

namespace troupe::api {

// A text that is overwritten by its unescaped strings.
struct json_text_stream : rapidjson::InsituStringStream {
  explicit json_text_stream(std::string& text)
      : rapidjson::InsituStringStream(text.data()), end_{text.data() + text.size()} {}

  const char* end_;
};

// UTF-8 whose plain characters RapidJSON copies as a whole (Transcoder, below), not one by one. Its
// own way, RAPIDJSON_SSE2, accepts the control characters 0x1a to 0x1f.
struct json_utf8 : rapidjson::UTF8<> {};

}  // namespace troupe::api

namespace rapidjson {

template <>
struct StreamTraits<troupe::api::json_text_stream> {
  enum { copyOptimization = 1 };  // kept in registers
};

template <>
struct Transcoder<troupe::api::json_utf8, troupe::api::json_utf8> {
  // Called within a string, at a character that neither is escaped nor ends it.
  static bool Transcode(troupe::api::json_text_stream& from, troupe::api::json_text_stream& to) {
    const char* const end = troupe::api::find_special(from.src_ + 1, from.end_);
    const auto size = static_cast<std::size_t>(end - from.src_);
    if (to.dst_ != from.src_) std::memmove(to.dst_, from.src_, size);
    to.dst_ += size;
    from.src_ += size;
    return true;
  }

  // For RapidJSON's code that other flags choose.
  template <class From, class To>
  static bool Transcode(From& from, To& to) {
    to.Put(from.Take());
    return true;
  }
  template <class From, class To>
  static bool Validate(From& from, To& to) {
    return Transcode(from, to);
  }
};

}  // namespace rapidjson

namespace troupe::api {

enum class scalar_kind { null, boolean, number, string };

// A handler has:
//   bool scalar(scalar_kind, std::string_view)  "true", "1.50", the text of a string
//   bool key(std::string_view)
//   bool begin_object(), end_object(), begin_array(), end_array()
// Each may stop the parser by returning false. Views are valid as long as the text.
template <class Handler>
class sax_adapter {
 public:
  using Ch = char;
  using size = rapidjson::SizeType;

  explicit sax_adapter(Handler& handler) : handler_(handler) {}

  bool Null() { return handler_.scalar(scalar_kind::null, "null"); }
  bool Bool(bool b) { return handler_.scalar(scalar_kind::boolean, b ? "true" : "false"); }
  bool RawNumber(const char* text, size n, bool) {
    return handler_.scalar(scalar_kind::number, {text, n});
  }
  bool String(const char* text, size n, bool) {
    return handler_.scalar(scalar_kind::string, {text, n});
  }
  bool Key(const char* text, size n, bool) { return handler_.key({text, n}); }
  bool StartObject() { return handler_.begin_object(); }
  bool EndObject(size) { return handler_.end_object(); }
  bool StartArray() { return handler_.begin_array(); }
  bool EndArray(size) { return handler_.end_array(); }

  // Not called: numbers arrive as text.
  bool Int(int) { return false; }
  bool Uint(unsigned) { return false; }
  bool Int64(std::int64_t) { return false; }
  bool Uint64(std::uint64_t) { return false; }
  bool Double(double) { return false; }

 private:
  Handler& handler_;
};

struct json_syntax_error {
  std::size_t offset = 0;
  std::string message;
  bool stopped = false;  // by the handler
};

// Overwrites `text`. Returns nullopt if it was exactly one JSON value.
template <class Handler>
std::optional<json_syntax_error> parse_json(std::string& text, Handler& handler) {
  constexpr unsigned flags = rapidjson::kParseInsituFlag | rapidjson::kParseIterativeFlag |
                             rapidjson::kParseNumbersAsStringsFlag;
  sax_adapter<Handler> adapter(handler);
  json_text_stream stream(text);
  rapidjson::GenericReader<json_utf8, json_utf8> reader;
  const auto result = reader.Parse<flags>(stream, adapter);
  if (result.IsError())
    return json_syntax_error{result.Offset(), rapidjson::GetParseError_En(result.Code()),
                             result.Code() == rapidjson::kParseErrorTermination};
  // The stream treats a zero byte as the end.
  if (stream.Tell() != text.size())
    return json_syntax_error{stream.Tell(), "A zero byte outside of strings.", false};
  return std::nullopt;
}

}  // namespace troupe::api
