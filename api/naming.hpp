// Names that the server makes up: generated names and uids. Random comes from the caller, so that a
// simulation repeats exactly.
#pragma once

#include <random>
#include <string>
#include <string_view>

namespace troupe::api {

// `base` cut to 58 characters and five random ones of "bcdfghjklmnpqrstvwxz2456789" (kubernetes:
// apiserver/pkg/storage/names, apimachinery/pkg/util/rand: no vowels, so no words).
std::string generated_name(std::string_view base, std::mt19937_64& random);

// A version 4 UUID in lower case.
std::string generated_uid(std::mt19937_64& random);

}  // namespace troupe::api
