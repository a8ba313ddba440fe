#include "persistence/tree/state_digest.hpp"

#include <spdlog/fmt/fmt.h>

#include <array>
#include <cstring>

#include "api/values/text_parts.hpp"
#include "persistence/format/record.hpp"

namespace troupe::persistence {

namespace {

std::uint64_t mix(std::uint64_t x) {
  x = (x ^ (x >> 32)) * 0xd6e8feb86659fd93ull;
  x = (x ^ (x >> 32)) * 0xd6e8feb86659fd93ull;
  return x ^ (x >> 32);
}

// Stored on disk: every program that reads the format must compute the same value. Reads bytes in
// machine order, which is little-endian on all supported machines.
std::uint64_t hash(std::string_view key, revision created, revision modified) {
  auto h = mix(mix(created) + modified);
  for (; !key.empty(); key.remove_prefix(std::min<std::size_t>(key.size(), 8))) {
    std::uint64_t piece = 0;
    std::memcpy(&piece, key.data(), std::min<std::size_t>(key.size(), 8));
    h = mix((h + key.size()) ^ piece);
  }
  return mix(h);
}

}  // namespace

state_digest state_digest::of(const tree_root& state) {
  state_digest made;
  state.scan({}, {}, &made, [](void* context, const entry& found) {
    static_cast<state_digest*>(context)->add(found.key(), found.created(),
                                             found.object()->revision());
    return true;
  });
  return made;
}

void state_digest::add(std::string_view key, revision created, revision modified) {
  ++objects_;
  sum_ += hash(key, created, modified);
}

void state_digest::remove(std::string_view key, revision created, revision modified) {
  --objects_;
  sum_ -= hash(key, created, modified);
}

std::string sealed_state::str() const {
  return fmt::format("{} {} {} {}", at, since, digest.objects_, digest.sum_);
}

std::optional<sealed_state> sealed_state::read(std::string_view text) {
  std::array<std::uint64_t, 4> numbers{};
  for (auto& each : numbers) {
    const auto number = read_number(api::take_part(text, ' '));
    if (!number) return std::nullopt;
    each = *number;
  }
  if (!text.empty()) return std::nullopt;
  sealed_state found{numbers[0], numbers[1], {}};
  found.digest.objects_ = numbers[2];
  found.digest.sum_ = numbers[3];
  return found;
}

}  // namespace troupe::persistence
