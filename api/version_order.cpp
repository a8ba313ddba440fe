#include "api/version_order.hpp"

#include <charconv>
#include <compare>
#include <system_error>

namespace troupe::api {
namespace {

struct version_rank {
  int stability = 0;  // 3 stable, 2 beta, 1 alpha, 0 no version of that form
  int major = 0;
  int minor = 0;
  auto operator<=>(const version_rank&) const = default;
};

version_rank rank_of(std::string_view text) {
  version_rank rank;
  if (!text.starts_with('v')) return {};
  const auto* end = text.data() + text.size();
  auto read = std::from_chars(text.data() + 1, end, rank.major);
  if (read.ec != std::errc()) return {};
  const std::string_view rest(read.ptr, static_cast<std::size_t>(end - read.ptr));
  if (rest.empty()) return {3, rank.major, 0};
  rank.stability = rest.starts_with("beta") ? 2 : rest.starts_with("alpha") ? 1 : 0;
  const std::size_t word = rank.stability == 2 ? 4 : 5;
  if (rank.stability == 0 || rest.size() <= word) return {};
  read = std::from_chars(rest.data() + word, end, rank.minor);
  if (read.ec != std::errc() || read.ptr != end) return {};
  return rank;
}

}  // namespace

bool version_before::operator()(std::string_view a, std::string_view b) const noexcept {
  const auto left = rank_of(a), right = rank_of(b);
  return left == right ? a < b : left > right;
}

}  // namespace troupe::api
