// The parts of a token, ID.SECRET, at random.
#pragma once

#include <cstddef>
#include <string>

namespace troupe::tools {

inline constexpr std::size_t token_id_letters = 6;
inline constexpr std::size_t token_secret_letters = 16;

// Lower-case letters and digits, each as likely as the others; empty where there are no random
// numbers.
std::string random_letters(std::size_t count);

}  // namespace troupe::tools
