#include "actors/simulation/settings.hpp"

#include <algorithm>
#include <cstdlib>
#include <string>

#include "actors/simulation/defaults.hpp"
#include "api/values/duration.hpp"
#include "api/values/integer.hpp"

namespace troupe::actors::simulated {

using api::meta::v1::ObjectMeta;

namespace {

// 68 years: clocks count nanoseconds in 64 bits.
constexpr auto longest = std::int64_t{1} << 61;

std::optional<runtime::duration> read_time(std::string_view text) {
  const auto value = api::parse_duration(text);
  if (!value || *value < 0) return std::nullopt;
  return std::chrono::nanoseconds{std::min<std::int64_t>(*value, longest)};
}

}  // namespace

std::optional<std::string_view> annotation(const ObjectMeta& of, std::string_view name) {
  const auto& all = of.annotations();
  const auto found = all.find(std::string{annotation_prefix} += name);
  if (found == all.end()) return std::nullopt;
  return found->second;
}

settings::settings(subject kind, const ObjectMeta& of, const policy* defaults) : of_{of} {
  if (defaults != nullptr) stages_ = defaults->stages_of(kind, of);
}

bool settings::any() const {
  const auto& all = of_.annotations();
  return !stages_.empty() || std::any_of(all.begin(), all.end(), [](const auto& each) {
    return each.first.starts_with(annotation_prefix);
  });
}

template <class Value, class Read>
std::optional<Value> settings::read(std::string_view name, const Read& read_text) const {
  if (const auto own = annotation(of_, name))
    if (auto value = read_text(*own, nullptr)) return value;
  for (const auto* stage : stages_)
    if (const auto found = stage->values.find(name); found != stage->values.end())
      return read_text(found->second, stage);
  return std::nullopt;
}

std::optional<std::string_view> settings::text(std::string_view name) const {
  return read<std::string_view>(
      name, [](std::string_view text, const stage*) { return std::optional{text}; });
}

std::optional<std::int32_t> settings::number(std::string_view name) const {
  return read<std::int32_t>(name, [](std::string_view text, const stage*) {
    return api::parse_integer<std::int32_t>(text);
  });
}

std::optional<delay> settings::time(std::string_view name) const {
  return read<delay>(name, [&](std::string_view text, const stage* from) -> std::optional<delay> {
    const auto time = read_time(text);
    if (!time) return std::nullopt;
    const auto own = annotation(of_, "jitter");
    const auto share = own ? std::strtod(std::string{*own}.c_str(), nullptr) : 0;
    const auto otherwise = from != nullptr && !own ? from->jitter : 0;
    return delay{*time, share > 0 ? std::min(share, simulation_defaults::most_jitter) : otherwise};
  });
}

std::optional<amount_over_time> settings::amount(std::string_view name) const {
  return read<amount_over_time>(
      name, [](std::string_view text, const stage*) { return amount_over_time::parse(text); });
}

double share_of(const ObjectMeta& of, std::string_view purpose, std::int32_t run) {
  std::uint64_t hash = 1469598103934665603U;  // FNV-1a
  const auto mix = [&](std::string_view text) {
    for (const unsigned char c : text)
      hash = (hash ^ c) * 1099511628211U;
  };
  mix(of.uid());
  mix(purpose);
  mix(std::to_string(run));
  return static_cast<double>(hash >> 11) / static_cast<double>(std::uint64_t{1} << 53);
}

runtime::duration longer(const delay& of, double share) {
  const auto part = of.jitter * share;
  if (part == 0) return of.time;
  const auto more = static_cast<double>(of.time.count()) * part;
  return of.time + runtime::duration{static_cast<runtime::duration::rep>(
                       std::min(more, static_cast<double>(longest)))};
}

}  // namespace troupe::actors::simulated
