// The program that libFuzzer drives: FUZZ_ENTRY names the decoder. With FUZZ_SEEDS it writes the
// decoder's seeds to that folder and ends; with FUZZ_ENTRY=list it lists all decoders.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>

#include "tools/fuzz/entries.hpp"

namespace {

const troupe::fuzz::entry* chosen = nullptr;

void write_seeds(const std::string& folder) {
  int number = 0;
  for (const auto& seed : chosen->seeds())
    std::ofstream(folder + "/seed-" + std::to_string(number++), std::ios::binary) << seed;
}

}  // namespace

extern "C" int LLVMFuzzerInitialize(int*, char***) {
  const char* name = std::getenv("FUZZ_ENTRY");
  if (name != nullptr && std::string_view(name) == "list") {
    for (const auto& each : troupe::fuzz::entries())
      std::printf("%s\n", std::string(each.name).c_str());
    std::exit(0);
  }
  chosen = troupe::fuzz::find_entry(name == nullptr ? "" : name);
  if (chosen == nullptr) {
    std::fprintf(stderr, "fuzz: FUZZ_ENTRY must name a decoder; FUZZ_ENTRY=list lists them\n");
    std::exit(2);
  }
  if (const char* folder = std::getenv("FUZZ_SEEDS")) {
    write_seeds(folder);
    std::exit(0);
  }
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  troupe::fuzz::run(*chosen, {reinterpret_cast<const char*>(data), size});
  return 0;
}
