// Runs scenarios from many seeds. A failure names the seed and how to run it alone.
#pragma once

#include <catch2/catch.hpp>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <string>

namespace troupe::test {

// Runs `scenario(seed)` for the seeds 1 … `usual`; TROUPE_SEEDS sets another number of seeds, and
// TROUPE_SEED a single one.
template <class F>
void for_each_seed(std::uint64_t usual, F scenario) {
  const auto number = [](const char* variable, std::uint64_t otherwise) {
    const char* text = std::getenv(variable);
    return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
  };
  const auto only = number("TROUPE_SEED", 0);
  const auto last = only != 0 ? only : number("TROUPE_SEEDS", usual);
  // Catch's command line treats commas specially.
  const auto name = Catch::getResultCapture().getCurrentTestName();
  const auto pattern = name.find(',') == name.npos ? name : name.substr(0, name.find(',')) + "*";
  for (auto seed = only != 0 ? only : 1; seed <= last; ++seed) {
    INFO("seed " << seed << "; to run it alone: TROUPE_SEED=" << seed << ' '
                 << program_invocation_short_name << " \"" << pattern << '"');
    scenario(seed);
  }
}

}  // namespace troupe::test
