// "Did you mean": the known word that a mistyped one stands for.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace troupe::config {

// The known word at the smallest edit distance; empty when none is near (a third of its length).
std::string nearest(std::string_view wrong, std::span<const std::string> known);

// "; did you mean X?", or nothing when no word is near.
std::string suggestion(std::string_view wrong, std::span<const std::string> known);

}  // namespace troupe::config
