// Generates the parts of a token, ID.SECRET.
#pragma once

#include <cstddef>
#include <string>

namespace troupe::tools {

inline constexpr std::size_t token_id_letters = 6;
inline constexpr std::size_t token_secret_letters = 16;

// Lower-case letters and digits, uniformly distributed; empty if there is no source of
// randomness.
std::string random_letters(std::size_t count);

}  // namespace troupe::tools
