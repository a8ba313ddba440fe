// Renders an answer as JSON, as YAML, or as text for a terminal. Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace troupe::server {

enum class rendering { json, yaml, text };

// "json", "yaml" or "text"; nullopt for other names.
std::optional<rendering> parse_rendering(std::string_view name) noexcept;
std::string_view content_type_of(rendering format) noexcept;

// `json` is a document of ours. As text, an array of objects is a table with the members of the
// first object as columns; a single object is one line for each member, followed by its arrays as
// tables.
std::string render(std::string json, rendering format);

// 0.00123 s is "1.23ms", 93784 s is "1d2h".
std::string human_time(double seconds);

}  // namespace troupe::server
