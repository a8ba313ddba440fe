#include "api/codec/json_decode.hpp"

#include "api/codec/json_builder.hpp"
#include "api/codec/json_sax.hpp"

namespace troupe::api {
namespace {

// Stops the parser once both names are known.
class names_finder {
 public:
  type_names found;

  bool scalar(scalar_kind kind, std::string_view text) {
    if (depth_ != 1 || target_ == nullptr || kind != scalar_kind::string) return true;
    *target_ = text;
    return found.kind.empty() || found.api_version.empty();
  }
  bool key(std::string_view name) {
    if (depth_ != 1) return true;
    target_ = name == "kind" ? &found.kind : name == "apiVersion" ? &found.api_version : nullptr;
    return true;
  }
  bool begin_object() { return begin(); }
  bool begin_array() { return begin(); }
  bool end_object() { return --depth_, true; }
  bool end_array() { return --depth_, true; }

 private:
  bool begin() {
    target_ = depth_ == 0 ? nullptr : target_;
    return ++depth_ <= decode_options{}.depth_limit;
  }

  std::size_t depth_ = 0;
  std::string* target_ = nullptr;
};

// Writes the value again, without white space.
class compactor {
 public:
  explicit compactor(std::size_t limit) : limit_(limit) {}

  bool scalar(scalar_kind kind, std::string_view text) { return out_.scalar(kind, text), true; }
  bool key(std::string_view name) { return out_.key(name), true; }
  bool begin_object() { return out_.begin('{'), ++depth_ <= limit_; }
  bool begin_array() { return out_.begin('['), ++depth_ <= limit_; }
  bool end_object() { return out_.end('}'), --depth_, true; }
  bool end_array() { return out_.end(']'), --depth_, true; }

  const std::string& text() const noexcept { return out_.text(); }

 private:
  std::size_t limit_;
  std::size_t depth_ = 0;
  json_writer out_;
};

class depth_check {
 public:
  explicit depth_check(std::size_t limit) : limit_(limit) {}

  bool scalar(scalar_kind, std::string_view) { return true; }
  bool key(std::string_view) { return true; }
  bool begin_object() { return ++depth_ <= limit_; }
  bool begin_array() { return ++depth_ <= limit_; }
  bool end_object() { return --depth_, true; }
  bool end_array() { return --depth_, true; }

 private:
  std::size_t limit_;
  std::size_t depth_ = 0;
};

}  // namespace

tl::expected<wire_document, std::string> json_to_wire(std::string_view text, const type_plan& type,
                                                      const decode_options& options) {
  std::string copy(text);
  json_builder builder(type, text.size(), options);
  if (const auto wrong = parse_json(copy, builder)) {
    if (builder.failure()) return tl::make_unexpected(*builder.failure());
    return tl::make_unexpected("json: " + wrong->message + " (at byte " +
                               std::to_string(wrong->offset) + ")");
  }
  return wire_document{builder.take_wire(), builder.api_version(), builder.kind(),
                       std::move(builder.problems())};
}

type_names find_type_names(std::string_view json) {
  std::string copy(json);
  names_finder finder;
  parse_json(copy, finder);
  return std::move(finder.found);
}

bool is_json(std::string_view text, std::size_t depth_limit) {
  std::string copy(text);
  depth_check check(depth_limit);
  return !parse_json(copy, check);
}

std::optional<std::string> compact_json(std::string_view text, std::size_t depth_limit) {
  std::string copy(text);
  compactor made(depth_limit);
  if (parse_json(copy, made)) return std::nullopt;
  return made.text();
}

}  // namespace troupe::api
