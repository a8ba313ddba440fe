// Suggests the known word for a mistyped one ("did you mean").
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace troupe::config {

// The known word with the smallest edit distance; empty if none is within a third of its length.
std::string nearest(std::string_view wrong, std::span<const std::string> known);

// "; did you mean X?", or empty if no word is near.
std::string suggestion(std::string_view wrong, std::span<const std::string> known);

}  // namespace troupe::config
