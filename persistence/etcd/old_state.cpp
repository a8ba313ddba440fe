#include "persistence/etcd/old_state.hpp"

#include <array>
#include <charconv>
#include <compare>

namespace troupe::persistence {

namespace {

struct release {
  int major = 0, minor = 0, patch = 0;
  auto operator<=>(const release&) const = default;
};

// The first release of each line with the fault's correction.
constexpr std::array corrected{release{3, 4, 42}, release{3, 5, 28}, release{3, 6, 9}};

// The major version is 0 if the text is no version.
release release_of(std::string_view text) {
  release found;
  const auto* at = text.data();
  const auto* const end = at + text.size();
  for (auto* part : {&found.major, &found.minor, &found.patch}) {
    const auto [next, failed] = std::from_chars(at, end, *part);
    if (failed != std::errc{}) return {};
    at = next == end ? next : next + 1;
  }
  return found;
}

}  // namespace

bool may_read_old_state(std::string_view etcd_version) {
  const auto found = release_of(etcd_version);
  if (found.major == 0) return false;
  for (const auto& each : corrected)
    if (found.major == each.major && found.minor == each.minor) return found < each;
  return found < corrected.front();
}

}  // namespace troupe::persistence
