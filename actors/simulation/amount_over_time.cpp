#include "actors/simulation/amount_over_time.hpp"

#include <algorithm>
#include <ratio>

#include "actors/simulation/defaults.hpp"
#include "api/values/duration.hpp"
#include "api/values/text_parts.hpp"

namespace troupe::actors {

std::optional<amount_over_time> amount_over_time::parse(std::string_view text) {
  amount_over_time made;
  while (!text.empty()) {
    const auto part = api::take_part(text, ',');
    const auto sign = part.find('=');
    const auto amount =
        api::quantity::parse(sign == std::string_view::npos ? part : part.substr(sign + 1));
    const auto after = sign == std::string_view::npos
                           ? std::optional<std::int64_t>{0}
                           : api::parse_duration(std::string{part.substr(0, sign)});
    if (!amount || !after || *after < 0) return std::nullopt;
    if (made.steps_.size() == simulation_defaults::amount_steps) return std::nullopt;
    made.steps_.push_back({*after, *amount});
  }
  if (made.steps_.empty()) return std::nullopt;
  std::stable_sort(made.steps_.begin(), made.steps_.end(),
                   [](const auto& a, const auto& b) { return a.after_ns < b.after_ns; });
  return made;
}

api::quantity amount_over_time::at(std::int64_t seconds) const {
  api::quantity last;
  for (const auto& step : steps_)
    if (step.after_ns / std::nano::den <= seconds) last = step.amount;
  return last;
}

std::uint64_t amount_over_time::total_ns(std::int64_t seconds) const {
  std::uint64_t total = 0;
  for (std::size_t i = 0; i < steps_.size(); ++i) {
    const auto from = steps_[i].after_ns / std::nano::den;
    const auto next = i + 1 < steps_.size() ? steps_[i + 1].after_ns / std::nano::den : seconds;
    const auto time = std::max<std::int64_t>(std::min(next, seconds) - from, 0);
    total += nanos_of(steps_[i].amount) * static_cast<std::uint64_t>(time);
  }
  return total;
}

std::uint64_t nanos_of(const api::quantity& cores) {
  return static_cast<std::uint64_t>(std::max<std::int64_t>(cores.milli_value(), 0)) * 1'000'000;
}

}  // namespace troupe::actors
