// A list of texts as JSON, for messages.
#pragma once

#include <string>

#include "api/codec/json_text.hpp"

namespace troupe::api {

// `["a","b"]`
template <class Texts>
std::string quoted_list(const Texts& texts) {
  std::string out;
  for (const auto& each : texts)
    out += (out.empty() ? "" : ",") + quoted(each);
  return "[" + out + "]";
}

}  // namespace troupe::api
