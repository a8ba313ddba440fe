#include "benchmark/results.hpp"

#include <fmt/format.h>

#include <cstdio>
#include <utility>

namespace troupe::bench {

bool results::row::met() const {
  return wanted->of == bar::side::at_most ? value <= wanted->value : value >= wanted->value;
}

std::string results::row::bar_text() const {
  if (!wanted) return {};
  return fmt::format("{} {:g}{}", wanted->of == bar::side::at_most ? "≤" : "≥", wanted->value,
                     met() ? "" : ": **missed**");
}

void results::add(std::string name, double value, std::string unit, std::optional<bar> wanted) {
  row next{std::move(name), value, std::move(unit), wanted};
  fmt::print(stderr, "{:<60} {:>12.1f} {:<8} {}\n", next.name, value, next.unit, next.bar_text());
  std::fflush(stderr);
  rows_.push_back(std::move(next));
}

std::string results::markdown() const {
  std::string out = "| measurement | figure | bar |\n|---|---|---|\n";
  for (const auto& each : rows_)
    out +=
        fmt::format("| {} | {:.1f} {} | {} |\n", each.name, each.value, each.unit, each.bar_text());
  return out;
}

std::string results::json() const {
  std::string out = "[";
  for (const auto& each : rows_) {
    out += fmt::format(R"({}  {{"what": "{}", "value": {:.3f}, "unit": "{}")",
                       out.size() > 1 ? ",\n" : "\n", each.name, each.value, each.unit);
    if (each.wanted)
      out += fmt::format(R"(, "bar": "{} {:g}", "met": {})",
                         each.wanted->of == bar::side::at_most ? "<=" : ">=", each.wanted->value,
                         each.met());
    out += '}';
  }
  return out + "\n]\n";
}

}  // namespace troupe::bench
