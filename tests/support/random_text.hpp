// Random texts of the kinds that objects contain.
#pragma once

#include <cstdint>
#include <random>
#include <string>

#include "api/schema/options.pb.h"

namespace troupe::api {

class random_text {
 public:
  random_text(std::mt19937_64& random, int size_max) : random_(random), size_max_(size_max) {}

  // A text that has the syntax.
  std::string of(Syntax syntax);
  std::string label() { return of(DNS_LABEL); }
  // Any characters, also those that text formats must escape; may be empty.
  std::string any();
  // Not empty.
  std::string bytes();
  // A quantity in its canonical form.
  std::string amount();
  // A small JSON object without white space.
  std::string json();

 private:
  std::int64_t between(std::int64_t low, std::int64_t high);
  char letter(std::string_view from);
  // `size` characters of [a-z0-9-] that begin with a letter and end with a letter or digit.
  std::string word(std::int64_t size);

  std::mt19937_64& random_;
  int size_max_;
};

}  // namespace troupe::api
