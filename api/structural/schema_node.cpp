#include "api/structural/schema_node.hpp"

#include <re2/re2.h>

#include <algorithm>
#include <utility>

#include "api/limits.hpp"

namespace troupe::api {
namespace {

re2::RE2::Options pattern_options() {
  re2::RE2::Options options;
  options.set_log_errors(false);
  options.set_max_mem(limits::pattern_bytes);
  return options;
}

re2::StringPiece piece(std::string_view text) {
  return {text.data(), text.size()};
}

}  // namespace

std::string_view name_of(schema_type type) {
  static constexpr std::string_view names[] = {"",        "object", "array",  "string",
                                               "integer", "number", "boolean"};
  return names[static_cast<std::size_t>(type)];
}

text_pattern::text_pattern(std::string text) : text_(std::move(text)) {}
text_pattern::~text_pattern() = default;

bool text_pattern::found_in(std::string_view value) const {
  std::call_once(
      once_, [this] { compiled_ = std::make_unique<re2::RE2>(piece(text_), pattern_options()); });
  return re2::RE2::PartialMatch(piece(value), *compiled_);
}

text_pattern::check_result text_pattern::check(std::string_view text) {
  const re2::RE2 compiled(piece(text), pattern_options());
  if (!compiled.ok()) return {compiled.error(), 0};
  return {{}, static_cast<std::size_t>(compiled.ProgramSize())};
}

schema_property::schema_property(std::string_view name, schema_node_ptr node)
    : name(name), node(std::move(node)), prefix(prefix_of(name)) {}

std::uint64_t prefix_of(std::string_view text) noexcept {
  std::uint64_t prefix = 0;
  for (std::size_t i = 0; i < sizeof prefix; ++i)
    prefix = prefix << 8 | (i < text.size() ? static_cast<unsigned char>(text[i]) : 0);
  return prefix;
}

const schema_node* schema_node::find(std::string_view name) const {
  const auto prefix = prefix_of(name);
  const auto found =
      std::lower_bound(properties.begin(), properties.end(), name,
                       [prefix](const auto& each, std::string_view wanted) {
                         return each.prefix != prefix ? each.prefix < prefix : each.name < wanted;
                       });
  return found != properties.end() && found->name == name ? found->node.get() : nullptr;
}

// Small chunks: most schemas have a few short defaults.
structural_schema::structural_schema() : pool(512) {}

}  // namespace troupe::api
