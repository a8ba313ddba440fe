// Objects made up by chance, for tests, benches and fuzzing: any message of the schema is filled by
// reflection, from a seed, so that a failure can be repeated.
//
// What comes out is in canonical form: it survives every codec unchanged. No zero stands where zero
// means absent, quantities are in their one form, times have no more digits than JSON keeps,
// strings are UTF-8.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <random>

#include "api/fwd.hpp"
#include "api/kind.hpp"

namespace troupe::api {

using random_source = std::mt19937_64;

struct random_options {
  enum class mode {
    realistic,  // names are names, values are those that the schema allows, one member of a union
    hostile,    // any text, control characters and 4-byte characters, numbers at their limits
  };

  mode style = mode::realistic;
  double presence = 0.5;   // probability that an optional field is set
  int list_size_max = 3;   // elements of a list or map that is set: 1 to this many
  int text_size_max = 40;  // characters of a hostile text
  // Asked first for each message: true where it has filled it. For types whose values chance would
  // hardly hit.
  std::function<bool(body& into, random_source& random)> own = nullptr;
};

void fill_random(body& into, random_source& random, const random_options& options = {});

// An object of the kind. Its metadata has a name, and a namespace where the kind has one.
std::unique_ptr<body> random_object(const kind_info& kind, std::uint64_t seed,
                                    const random_options& options = {});

}  // namespace troupe::api
