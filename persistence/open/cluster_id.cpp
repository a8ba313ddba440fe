#include "persistence/open/cluster_id.hpp"

#include <spdlog/fmt/fmt.h>

#include <cstdint>
#include <random>

namespace troupe::persistence {

std::string make_cluster_id() {
  std::random_device entropy;
  const auto word = [&] { return static_cast<std::uint32_t>(entropy()); };
  const std::uint32_t b = word(), c = word();
  return fmt::format("{:08x}-{:04x}-4{:03x}-{:04x}-{:04x}{:08x}", word(), b >> 16, b & 0xfff,
                     0x8000 | (c >> 16 & 0x3fff), c & 0xffff, word());
}

}  // namespace troupe::persistence
