// Random objects for tests, benches and fuzzing: fills any message of the schema by reflection,
// from a seed, so that a failure can be repeated.
//
// The objects are in canonical form: they survive every codec unchanged. There are no zeros where
// zero means absent, quantities are canonical, times have no more digits than JSON keeps, strings
// are UTF-8.
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
    realistic,  // names are valid, values obey the schema, one member of a union is set
    hostile,    // any text, control characters and 4-byte characters, numbers at their limits
  };

  mode style = mode::realistic;
  double presence = 0.5;   // probability that an optional field is set
  int list_size_max = 3;   // elements of a list or map that is set: 1 to this many
  int text_size_max = 40;  // characters of a hostile text
  // Called first for each message: returns true if it has filled it. For types whose valid values
  // are unlikely at random.
  std::function<bool(body& into, random_source& random)> own = nullptr;
};

void fill_random(body& into, random_source& random, const random_options& options = {});

// An object of the kind. Its metadata has a name, and a namespace if the kind is namespaced.
std::unique_ptr<body> random_object(const kind_info& kind, std::uint64_t seed,
                                    const random_options& options = {});

}  // namespace troupe::api
