// Converts between bytes and bodies: JSON, YAML and Kubernetes' protobuf envelope, driven by plans
// that are made once for each message type from the schema and its options.
//
// Input is untrusted: depth, size, number of values and time are bounded, and every error is a 4xx
// with the place in the document.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "api/error.hpp"
#include "api/fwd.hpp"
#include "api/kind.hpp"
#include "api/limits.hpp"

namespace troupe::api {

enum class media { json, yaml, protobuf };

// fieldValidation of the request: how unknown and duplicate fields are handled.
enum class field_validation { ignore, warn, strict };

struct decode_options {
  field_validation fields = field_validation::ignore;
  // Another version that the document may name for the expected kind, because its form is equal.
  std::string_view also_version = {};
  std::size_t depth_limit = limits::json_depth;
  std::size_t size_limit_bytes = limits::document_bytes;
  std::size_t memory_limit_bytes = limits::document_memory_bytes;
};

struct decoded {
  kind_handle kind;
  std::unique_ptr<body> content;
  // For `warn`: upstream's lines, e.g. `unknown field "spec.foo"`.
  std::vector<std::string> warnings;
};

// Reads kind and apiVersion, then the rest. If the document names no kind, uses `expected_kind`
// (may be null); another kind than expected is a 400. Errors name unknown versions and kinds.
// Custom kinds have no protobuf: 415.
expected<decoded> decode(std::string_view bytes, media form, const kind_info* expected_kind,
                         const decode_options& options = {});

// The same for a message that is not a kind (DeleteOptions, Scale, Status, a patch's result).
// Accepts kind and apiVersion without a check.
expected<std::vector<std::string>> decode_into(std::string_view bytes, media form, body& into,
                                               const decode_options& options = {});

// `api_version` and `kind` come first in the object; empty ones are omitted.
std::string encode_json(const body& content, std::string_view api_version, std::string_view kind);
void append_json(std::string& out, const body& content, std::string_view api_version,
                 std::string_view kind);
std::string encode_yaml(const body& content, std::string_view api_version, std::string_view kind);
// `k8s\0` + Unknown{typeMeta, raw}.
std::string encode_protobuf(const body& content, std::string_view api_version,
                            std::string_view kind);

// Converts YAML to JSON text, for patches and for input of unknown type (kind: List).
expected<std::string> yaml_to_json(std::string_view yaml, const decode_options& options = {});

}  // namespace troupe::api
