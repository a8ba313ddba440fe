// JSON text in the spelling of Go's encoder, which wrote kube-apiserver's values and annotations.
#pragma once

#include <string>
#include <string_view>

namespace troupe::api {

// The same JSON with Go's escapes (it also escapes characters that HTML or JavaScript treat
// specially) and Go's numbers. `json` is valid and has no white space between tokens.
std::string as_go_writes(std::string_view json);

}  // namespace troupe::api
