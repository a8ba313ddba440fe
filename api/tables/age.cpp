#include "api/tables/age.hpp"

namespace troupe::api {
namespace {

constexpr std::int64_t minute = 60, hour = 60 * minute, day = 24 * hour, year = 365 * day;

// "3m20s", or "3m" if `small` is 0.
std::string two(std::int64_t large, char large_unit, std::int64_t small, char small_unit) {
  auto text = std::to_string(large) + large_unit;
  if (small != 0) text += std::to_string(small) + small_unit;
  return text;
}

}  // namespace

std::string human_duration(std::int64_t seconds) {
  if (seconds < -1) return "<invalid>";
  if (seconds < 0) return "0s";
  if (seconds < 2 * minute) return std::to_string(seconds) + "s";
  if (seconds < 10 * minute) return two(seconds / minute, 'm', seconds % minute, 's');
  if (seconds < 3 * hour) return std::to_string(seconds / minute) + "m";
  if (seconds < 8 * hour) return two(seconds / hour, 'h', seconds % hour / minute, 'm');
  if (seconds < 2 * day) return std::to_string(seconds / hour) + "h";
  if (seconds < 8 * day) return two(seconds / day, 'd', seconds % day / hour, 'h');
  if (seconds < 2 * year) return std::to_string(seconds / day) + "d";
  if (seconds < 8 * year) return two(seconds / year, 'y', seconds % year / day, 'd');
  return std::to_string(seconds / year) + "y";
}

std::string age_at(std::int64_t now_seconds, std::int64_t since_seconds) {
  return since_seconds == 0 ? "<unknown>" : human_duration(now_seconds - since_seconds);
}

}  // namespace troupe::api
