// The identity that the server gives a new object. Random comes from the caller, so that a
// simulation repeats exactly. (Generated names: strategy.hpp.)
#pragma once

#include <random>
#include <string>

namespace troupe::api {

// A version 4 UUID in lower case.
std::string generated_uid(std::mt19937_64& random);

}  // namespace troupe::api
