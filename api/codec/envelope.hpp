// Kubernetes' protobuf envelope: the bytes `k8s\0`, then runtime.Unknown {typeMeta, raw}. Objects
// are sent and stored in it.
#pragma once

#include <string>
#include <string_view>

#include "api/error.hpp"
#include "api/fwd.hpp"

namespace troupe::api {

// Views into the opened bytes.
struct envelope {
  std::string_view api_version;
  std::string_view kind;
  std::string_view raw;
  std::string_view content_type;  // empty: protobuf
};

// Returns a 400 that describes the problem: no magic, truncated, compressed.
expected<envelope> open_envelope(std::string_view bytes);

// The caller appends `size` bytes of raw next, then calls `append_envelope_tail`.
void append_envelope_head(std::string& out, std::string_view api_version, std::string_view kind,
                          std::size_t size);
void append_envelope_tail(std::string& out);
// Head, message and tail.
void append_envelope(std::string& out, std::string_view api_version, std::string_view kind,
                     const body& content);

// The message as protobuf with sorted map keys: equal messages give equal bytes.
void append_wire(std::string& out, const body& content);

}  // namespace troupe::api
