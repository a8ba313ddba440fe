// Samples the decoders that read bytes from outside: seeds and old findings, and random damage of
// both. tools/fuzz/run searches longer.
#include <catch2/catch.hpp>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <random>
#include <sstream>

#include "build_paths.hpp"
#include "tools/fuzz/entries.hpp"

namespace troupe::fuzz {
namespace {

// A given seed is run for longer: it may have been found on a faster machine.
constexpr std::chrono::milliseconds time_each{250}, time_each_again{5'000};
constexpr std::size_t size_max = 16'384;

std::vector<std::string> corpus_of(const entry& target) {
  auto out = target.seeds();
  const auto folder =
      std::filesystem::path(TROUPE_SOURCE_DIR) / "tools/fuzz/corpus" / std::string(target.name);
  if (!std::filesystem::exists(folder)) return out;
  for (const auto& file : std::filesystem::directory_iterator(folder)) {
    std::ostringstream text;
    text << std::ifstream(file.path(), std::ios::binary).rdbuf();
    out.push_back(text.str());
  }
  return out;
}

class damage {
 public:
  explicit damage(std::uint64_t seed) : random_{seed} {}

  std::string to(const std::vector<std::string>& corpus) {
    std::string out = pick(corpus);
    for (auto left = 1 + random_() % 4; left > 0; --left)
      once(out, pick(corpus));
    if (out.size() > size_max) out.resize(size_max);
    return out;
  }

 private:
  const std::string& pick(const std::vector<std::string>& corpus) {
    return corpus[random_() % corpus.size()];
  }
  std::size_t place(const std::string& text) { return text.empty() ? 0 : random_() % text.size(); }

  void once(std::string& out, const std::string& other) {
    static constexpr std::string_view marks =
        "{}[]\":,=!()-+.\\/%&?\n\r\t 0129eEnN~'#*|>@<\x7f\x80\xff";
    const auto at = place(out);
    switch (random_() % 6) {
      case 0:
        if (!out.empty()) out[at] = static_cast<char>(random_());
        return;
      case 1:
        if (!out.empty()) out[at] = marks[random_() % marks.size()];
        return;
      case 2:
        out.insert(at, 1, marks[random_() % marks.size()]);
        return;
      case 3:
        out.erase(at, 1 + random_() % 8);
        return;
      case 4:
        out.insert(at, other, place(other), random_() % 64);
        return;
      default:
        out.insert(at, out.substr(at, random_() % 32));
    }
  }

  std::mt19937_64 random_;
};

}  // namespace

TEST_CASE("every decoder accepts its seeds, earlier findings, and damaged forms of both") {
  REQUIRE(entries().size() > 15);
  const char* again = std::getenv("TROUPE_SEED");
  const std::uint64_t seed =
      again == nullptr ? std::random_device{}() : std::strtoull(again, nullptr, 10);
  for (const auto& each : entries()) {
    // Printed first, because a broken invariant ends the program. TROUPE_SEED runs it again.
    std::cout << "fuzz " << each.name << " seed " << seed << std::endl;
    const auto corpus = corpus_of(each);
    REQUIRE_FALSE(corpus.empty());
    for (const auto& bytes : corpus)
      run(each, bytes);
    damage made{seed};
    const auto end =
        std::chrono::steady_clock::now() + (again == nullptr ? time_each : time_each_again);
    while (std::chrono::steady_clock::now() < end) {
      const auto bytes = made.to(corpus);
      run(each, bytes);
    }
  }
}

}  // namespace troupe::fuzz
