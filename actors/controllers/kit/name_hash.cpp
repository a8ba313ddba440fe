#include "actors/controllers/kit/name_hash.hpp"

namespace troupe::actors {

std::string name_hash(std::string_view bytes, std::int32_t collisions) {
  std::uint32_t hash = 2166136261u;
  const auto mix = [&hash](unsigned char byte) { hash = (hash ^ byte) * 16777619u; };
  for (const char c : bytes)
    mix(static_cast<unsigned char>(c));
  for (auto rest = static_cast<std::uint32_t>(collisions); rest != 0; rest >>= 8)
    mix(static_cast<unsigned char>(rest & 0xff));

  static constexpr char alphabet[] = "bcdfghjklmnpqrstvwxz2456789";
  std::string name;
  for (const char digit : std::to_string(hash))
    name += alphabet[static_cast<std::size_t>(digit - '0')];
  return name;
}

}  // namespace troupe::actors
