// Between bytes and bodies: JSON, YAML and Kubernetes' protobuf envelope, driven by plans that are
// made once for each message type from the schema and its options.
//
// Input comes from anybody: depth, size, number of values and time are bounded, and every error
// is a 4xx with the place in the document.
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

// fieldValidation of the request: what becomes of unknown and of duplicate fields.
enum class field_validation { ignore, warn, strict };

struct decode_options {
  field_validation fields = field_validation::ignore;
  // Another version that an object of the expected kind may name, since its form is the same.
  std::string_view also_version = {};
  std::size_t depth_limit = limits::json_depth;
  std::size_t size_limit_bytes = limits::document_bytes;
  std::size_t memory_limit_bytes = limits::document_memory_bytes;
};

struct decoded {
  kind_handle kind;
  std::unique_ptr<body> content;
  // For `warn`: the lines of upstream, e.g. `unknown field "spec.foo"`.
  std::vector<std::string> warnings;
};

// Reads kind and apiVersion, then the rest. `expected_kind` (may be null) is taken where the
// document names none; another kind than expected is a 400. Unknown versions and kinds are named.
// A custom kind has no protobuf: 415.
expected<decoded> decode(std::string_view bytes, media form, const kind_info* expected_kind,
                         const decode_options& options = {});

// The same for a message that is no kind (DeleteOptions, Scale, Status, a patch result's body).
// kind and apiVersion are accepted and not checked.
expected<std::vector<std::string>> decode_into(std::string_view bytes, media form, body& into,
                                               const decode_options& options = {});

// `api_version` and `kind` come first in the object; empty ones are left out.
std::string encode_json(const body& content, std::string_view api_version, std::string_view kind);
void append_json(std::string& out, const body& content, std::string_view api_version,
                 std::string_view kind);
std::string encode_yaml(const body& content, std::string_view api_version, std::string_view kind);
// `k8s\0` + Unknown{typeMeta, raw}.
std::string encode_protobuf(const body& content, std::string_view api_version,
                            std::string_view kind);

// YAML to JSON text, for patches and for input whose type is not known yet (kind: List).
expected<std::string> yaml_to_json(std::string_view yaml, const decode_options& options = {});

}  // namespace troupe::api
