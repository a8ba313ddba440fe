#include "server/join/flat_json.hpp"

#include <rapidjson/prettywriter.h>
#include <rapidjson/reader.h>
#include <rapidjson/stringbuffer.h>

#include <utility>

namespace troupe::server {
namespace {

// A lone surrogate, which a JSON escape can express but UTF-8 cannot: it could be written but not
// read again.
bool holds_surrogate(std::string_view text) {
  for (auto at = text.find('\xED'); at != text.npos; at = text.find('\xED', at + 1))
    if (at + 1 < text.size() && static_cast<unsigned char>(text[at + 1]) >= 0xA0) return true;
  return false;
}

// Accepts strings at depth 1; anything else stops the parser.
class texts_only {
 public:
  bool Null() { return false; }
  bool Bool(bool) { return false; }
  bool Int(int) { return false; }
  bool Uint(unsigned) { return false; }
  bool Int64(std::int64_t) { return false; }
  bool Uint64(std::uint64_t) { return false; }
  bool Double(double) { return false; }
  bool RawNumber(const char*, rapidjson::SizeType, bool) { return false; }
  bool String(const char* text, rapidjson::SizeType size, bool) {
    if (!open_ || holds_surrogate({text, size})) return false;
    read[key_].assign(text, size);
    return true;
  }
  bool StartObject() { return !std::exchange(open_, true); }
  bool Key(const char* text, rapidjson::SizeType size, bool) {
    key_.assign(text, size);
    return !holds_surrogate(key_);
  }
  bool EndObject(rapidjson::SizeType) { return true; }
  bool StartArray() { return false; }
  bool EndArray(rapidjson::SizeType) { return false; }

  flat_json read;

 private:
  bool open_ = false;
  std::string key_;
};

}  // namespace

tl::expected<flat_json, std::string> read_flat_json(std::string_view text) {
  texts_only taken;
  rapidjson::MemoryStream input{text.data(), text.size()};
  rapidjson::Reader reader;
  if (!reader.Parse<rapidjson::kParseValidateEncodingFlag>(input, taken))
    return tl::make_unexpected(
        std::string("expected a JSON object whose members are texts, and nothing behind it"));
  return std::move(taken.read);
}

std::string write_flat_json(const flat_json& json) {
  rapidjson::StringBuffer out;
  rapidjson::PrettyWriter<rapidjson::StringBuffer> writer{out};
  writer.SetIndent(' ', 2);
  writer.StartObject();
  for (const auto& [name, text] : json) {
    writer.Key(name.data(), static_cast<rapidjson::SizeType>(name.size()));
    writer.String(text.data(), static_cast<rapidjson::SizeType>(text.size()));
  }
  writer.EndObject();
  return std::string{out.GetString(), out.GetSize()} + "\n";
}

std::string member(const flat_json& json, std::string_view name) {
  const auto found = json.find(name);
  return found == json.end() ? std::string{} : found->second;
}

}  // namespace troupe::server
