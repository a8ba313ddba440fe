#include "actors/kubelet/simulated/annotations.hpp"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <string>

#include "api/values/duration.hpp"

namespace troupe::actors::simulated {

using api::meta::v1::ObjectMeta;

namespace {

constexpr double most_jitter = 100;
// 68 years: clocks count nanoseconds in 64 bits.
constexpr auto longest = std::int64_t{1} << 61;

}  // namespace

std::optional<std::string_view> annotation(const ObjectMeta& of, std::string_view name) {
  const auto& all = of.annotations();
  const auto found = all.find(std::string{annotation_prefix} += name);
  if (found == all.end()) return std::nullopt;
  return found->second;
}

bool is_annotated(const ObjectMeta& of) {
  const auto& all = of.annotations();
  return std::any_of(all.begin(), all.end(),
                     [](const auto& each) { return each.first.starts_with(annotation_prefix); });
}

std::optional<runtime::duration> duration_in(const ObjectMeta& of, std::string_view name) {
  const auto text = annotation(of, name);
  if (!text) return std::nullopt;
  const auto value = api::parse_duration(*text);
  if (!value || *value < 0) return std::nullopt;
  return std::chrono::nanoseconds{std::min<std::int64_t>(*value, longest)};
}

std::optional<std::int32_t> number_in(const ObjectMeta& of, std::string_view name) {
  const auto text = annotation(of, name);
  std::int32_t value = 0;
  if (!text) return std::nullopt;
  const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), value);
  if (error != std::errc{} || end != text->data() + text->size()) return std::nullopt;
  return value;
}

double jitter_in(const ObjectMeta& of) {
  const auto text = annotation(of, "jitter");
  const auto share = text ? std::strtod(std::string{*text}.c_str(), nullptr) : 0;
  return share > 0 ? std::min(share, most_jitter) : 0;
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

runtime::duration longer(runtime::duration delay, double part) {
  if (part == 0) return delay;
  const auto more = static_cast<double>(delay.count()) * part;
  return delay + runtime::duration{static_cast<runtime::duration::rep>(
                     std::min(more, static_cast<double>(longest)))};
}

}  // namespace troupe::actors::simulated
