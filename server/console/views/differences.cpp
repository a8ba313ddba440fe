#include "server/console/views/differences.hpp"

#include <rapidjson/document.h>
#include <rapidjson/stringbuffer.h>
#include <rapidjson/writer.h>

#include <algorithm>

#include "api/codec/codec.hpp"
#include "api/kind_row.hpp"
#include "api/values/utf8.hpp"
#include "server/console/defaults.hpp"

namespace troupe::server {
namespace {

using rapidjson::Value;

constexpr std::string_view redacted = "(redacted)";

rapidjson::Document document_of(const api::object* object) {
  rapidjson::Document document;
  document.SetObject();
  if (object == nullptr) return document;
  // Encoded again: the object would cache the text as long as it lives.
  const auto text = api::encode_json(object->content(), {}, {});
  document.Parse<rapidjson::kParseIterativeFlag>(text.data(), text.size());
  if (!document.IsObject()) document.SetObject();
  return document;
}

class comparison {
 public:
  comparison(bool confidential, std::size_t limit) : confidential_{confidential}, limit_{limit} {}

  // Null means absent.
  void compare(const std::string& path, const Value* a, const Value* b, std::size_t depth = 0) {
    if (a != nullptr && a->IsNull()) a = nullptr;
    if (b != nullptr && b->IsNull()) b = nullptr;
    if (a == nullptr && b == nullptr) return;
    if (found.size() >= limit_ || ignored(path)) return;
    if (a != nullptr && b != nullptr && *a == *b) return;
    const bool divides = depth < defaults::difference_depth;
    if (divides && both_or_one(a, b, &Value::IsObject)) return compare_members(path, a, b, depth);
    if (divides && both_or_one(a, b, &Value::IsArray)) return compare_elements(path, a, b, depth);
    found.push_back({path, text(path, a), text(path, b)});
  }

  std::vector<difference> found;

 private:
  static bool both_or_one(const Value* a, const Value* b, bool (Value::*is)() const) {
    return (a == nullptr || (a->*is)()) && (b == nullptr || (b->*is)());
  }
  static bool ignored(const std::string& path) {
    return path == "metadata.resourceVersion" || path == "metadata.managedFields";
  }
  bool hidden(std::string_view path) const {
    return confidential_ &&
           (path.starts_with("data.") || path.starts_with("stringData.") || path == "data" ||
            path == "stringData" || path.starts_with("metadata.annotations"));
  }

  std::string text(const std::string& path, const Value* value) const {
    if (value == nullptr) return {};
    if (hidden(path)) return std::string{redacted};
    rapidjson::StringBuffer buffer;
    rapidjson::Writer<rapidjson::StringBuffer> writer{buffer};
    value->Accept(writer);
    std::string out{buffer.GetString(), buffer.GetSize()};
    if (out.size() > defaults::difference_text_limit) {
      out.resize(api::utf8_prefix(out, defaults::difference_text_limit));
      out += "…";
    }
    return out;
  }

  void compare_members(const std::string& path, const Value* a, const Value* b, std::size_t depth) {
    const auto below = [&](const Value& name) {
      return (path.empty() ? "" : path + ".") + std::string{name.GetString()};
    };
    if (a != nullptr) {
      for (const auto& member : a->GetObject()) {
        const Value* other = nullptr;
        if (b != nullptr) {
          const auto found_there = b->FindMember(member.name);
          if (found_there != b->MemberEnd()) other = &found_there->value;
        }
        compare(below(member.name), &member.value, other, depth + 1);
      }
    }
    if (b == nullptr) return;
    for (const auto& member : b->GetObject()) {
      if (a != nullptr && a->HasMember(member.name)) continue;
      compare(below(member.name), nullptr, &member.value, depth + 1);
    }
  }

  void compare_elements(const std::string& path, const Value* a, const Value* b,
                        std::size_t depth) {
    const auto size_a = a == nullptr ? 0 : a->Size();
    const auto size_b = b == nullptr ? 0 : b->Size();
    for (rapidjson::SizeType i = 0; i < std::max(size_a, size_b); ++i) {
      compare(path + "[" + std::to_string(i) + "]", i < size_a ? &(*a)[i] : nullptr,
              i < size_b ? &(*b)[i] : nullptr, depth + 1);
    }
  }

  const bool confidential_;
  const std::size_t limit_;
};

}  // namespace

std::vector<difference> differences(const api::object* before, const api::object* after,
                                    std::size_t limit) {
  const auto* either = after != nullptr ? after : before;
  if (either == nullptr) return {};
  comparison all{either->kind().row().confidential, limit};
  const auto a = document_of(before);
  const auto b = document_of(after);
  all.compare({}, before == nullptr ? nullptr : &a, after == nullptr ? nullptr : &b);
  return std::move(all.found);
}

}  // namespace troupe::server
