// YAML scalars as sigs.k8s.io/yaml and clients' manifests use them: YAML 1.1's numbers (0644 is
// octal), but only true and false are booleans: "yes" and "on" are strings.
#pragma once

#include <string>
#include <string_view>

namespace troupe::api {

// The JSON value of a plain (unquoted) scalar.
std::string plain_scalar_to_json(std::string_view text);

// Writes a string so that it parses as the same string: plain if possible, else in double
// quotes.
void append_yaml_string(std::string& out, std::string_view text);

}  // namespace troupe::api
