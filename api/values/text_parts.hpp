// Splits and trims texts. Pure; results refer to the given text.
#pragma once

#include <string_view>
#include <vector>

namespace troupe::api {

// Removes and returns the text before the first separator, and removes the separator. Without one:
// all of the text.
std::string_view take_part(std::string_view& text, char separator) noexcept;

// The parts between separators, without empty ones.
std::vector<std::string_view> parts_between(std::string_view text, char separator);

// Without the given characters at both ends.
std::string_view trimmed(std::string_view text, std::string_view characters) noexcept;

}  // namespace troupe::api
