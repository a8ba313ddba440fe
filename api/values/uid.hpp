// The uid of a new object. The caller provides the randomness, so that a simulation is
// reproducible. (Generated names: strategy.hpp.)
#pragma once

#include <random>
#include <string>

namespace troupe::api {

// A version 4 UUID in lower case.
std::string generated_uid(std::mt19937_64& random);

}  // namespace troupe::api
