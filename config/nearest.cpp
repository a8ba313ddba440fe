#include "config/nearest.hpp"

#include <algorithm>
#include <cctype>
#include <numeric>
#include <vector>

namespace troupe::config {

namespace {

constexpr std::size_t max_word_bytes = 64;

bool same(char a, char b) {
  return std::tolower(static_cast<unsigned char>(a)) == std::tolower(static_cast<unsigned char>(b));
}

// Levenshtein distance, case-insensitive.
std::size_t distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), 0);
  for (std::size_t i = 0; i < a.size(); ++i) {
    auto diagonal = row[0];
    row[0] = i + 1;
    for (std::size_t j = 0; j < b.size(); ++j) {
      const auto replaced = diagonal + (same(a[i], b[j]) ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({replaced, row[j] + 1, row[j + 1] + 1});
    }
  }
  return row.back();
}

}  // namespace

std::string nearest(std::string_view wrong, std::span<const std::string> known) {
  if (wrong.size() > max_word_bytes) return {};
  std::string best;
  std::size_t smallest = max_word_bytes;
  for (const auto& word : known) {
    const auto steps = distance(wrong, word);
    if (steps < smallest && steps <= word.size() / 3) {
      smallest = steps;
      best = word;
    }
  }
  return best;
}

std::string suggestion(std::string_view wrong, std::span<const std::string> known) {
  const auto word = nearest(wrong, known);
  return word.empty() ? "" : "; did you mean " + word + "?";
}

}  // namespace troupe::config
