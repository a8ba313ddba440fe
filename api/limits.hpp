// The limits of the API for clients' requests, each with its source.
#pragma once

#include <cstddef>
#include <cstdint>

namespace troupe::api::limits {

// RFC 1123 and RFC 1035.
inline constexpr std::size_t dns_label_bytes = 63;
inline constexpr std::size_t dns_subdomain_bytes = 253;
// RFC 6335 section 5.1.
inline constexpr std::size_t port_name_bytes = 15;

// Kubernetes, apimachinery/pkg/api/validation: all keys and values of annotations together.
inline constexpr std::size_t annotations_bytes = 256 * 1024;
// Kubernetes, core/v1 MaxSecretSize: the data of a Secret or ConfigMap.
inline constexpr std::size_t config_data_bytes = 1024 * 1024;
// Kubernetes, apimachinery/pkg/apis/meta/v1/validation.
inline constexpr std::size_t field_manager_bytes = 128;
inline constexpr std::size_t subresource_bytes = 256;

// Our own: the number of causes in one error; the rest is reported once these are fixed.
inline constexpr std::size_t causes = 100;

// Kubernetes, apiserver/pkg/endpoints/handlers/patch.go.
inline constexpr std::size_t json_patch_operations = 10'000;
inline constexpr std::size_t json_patch_copied_bytes = 3 * 1024 * 1024;
// Kubernetes, apimachinery/pkg/util/json: nesting of JSON documents; also of pointers into them.
inline constexpr std::size_t json_depth = 10'000;
// Our own: lookups and shifts of one JSON patch; a patch with more is refused as an attack.
inline constexpr std::size_t json_patch_steps = 50'000'000;
// Our own: patched documents are walked by recursion; objects of the schema nest far less deep.
inline constexpr std::size_t json_tree_depth = 1'000;

// Our own: resources and subresources in one group version of another API server.
inline constexpr std::size_t foreign_resources = 1'000;

// Our own: nesting of the schema of a custom kind. Definitions of known projects nest less than a
// fifth of it.
inline constexpr std::size_t schema_depth = 100;
// Our own: values and patterns that the check of one custom object may visit; about 0.3 s.
inline constexpr std::size_t schema_steps = 5'000'000;
// Our own: the memory of one compiled pattern with its matching states; the number of different
// patterns of one schema, and their compiled instructions together. The 29 definitions that the
// suite installs have at most 11 patterns and 615 instructions.
inline constexpr std::int64_t pattern_bytes = 1 << 20;
inline constexpr std::size_t schema_patterns = 200;
inline constexpr std::size_t schema_pattern_instructions = 200'000;
// Kubernetes, apiextensions-apiserver/pkg/apis/apiextensions/validation.
inline constexpr int selectable_fields = 8;
inline constexpr std::size_t deprecation_warning_bytes = 256;

// Kubernetes, apiserver/pkg/storage/names: generateName is cut so that the random suffix fits.
inline constexpr std::size_t generated_name_bytes = 63;
inline constexpr std::size_t generated_suffix_bytes = 5;

// The size of a document before it is read.
// Kubernetes, apiserver/pkg/server/config.go: MaxRequestBodyBytes.
inline constexpr std::size_t document_bytes = 3u << 20;
// Our own: the memory of the messages that a document describes, twenty times the largest text.
inline constexpr std::size_t document_memory_bytes = 60u << 20;
// sigs.k8s.io/json: the number of unknown and duplicate fields that are
// reported.
inline constexpr std::size_t document_problems = 100;
// Our own: repeated lists in one object. Each one moves the document's bytes.
inline constexpr std::size_t repeated_lists = 100;
// Our own: bytes of a map key in the path of a message.
inline constexpr std::size_t path_key_bytes = 256;
// Our own: the size limit of JSON made from YAML, as a multiple of the YAML, because of quotes.
inline constexpr std::size_t json_growth = 4;
// Our own: the size limit of YAML made from JSON, as a multiple of the JSON and beyond it. Only a
// document of very many levels reaches it, because of the blanks.
inline constexpr std::size_t yaml_growth = 16;
inline constexpr std::size_t yaml_least_bytes = 64u << 10;
// Our own: characters of YAML's flow collections ([ { , :) between two events. They cost yaml-cpp
// about a hundred megabytes. A string scalar may contain them too, but hardly as many within the
// size limit of an object.
inline constexpr std::ptrdiff_t yaml_flow_marks = 400'000;

}  // namespace troupe::api::limits
