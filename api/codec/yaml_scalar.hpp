// What a YAML scalar means, as sigs.k8s.io/yaml and clients' manifests have it: YAML 1.1's numbers
// (0644 is octal), but only true and false are booleans: "yes" and "on" are strings.
#pragma once

#include <string>
#include <string_view>

namespace troupe::api {

// The JSON value of a plain (unquoted) scalar.
std::string plain_scalar_to_json(std::string_view text);

// The text to write for a string so that it is read back as that string: plain where that is
// possible, else in double quotes.
void append_yaml_string(std::string& out, std::string_view text);

}  // namespace troupe::api
