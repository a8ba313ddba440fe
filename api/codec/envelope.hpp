// Kubernetes' protobuf envelope: the bytes `k8s\0`, then runtime.Unknown {typeMeta, raw}. Objects
// travel and are stored in it.
#pragma once

#include <string>
#include <string_view>

#include "api/error.hpp"
#include "api/fwd.hpp"

namespace troupe::api {

// Views into the bytes that were opened.
struct envelope {
  std::string_view api_version;
  std::string_view kind;
  std::string_view raw;
  std::string_view content_type;  // empty: protobuf
};

// A 400 that says where the bytes are wrong: no magic, cut off, compressed.
expected<envelope> open_envelope(std::string_view bytes);

// `size` bytes of raw must be appended next, then `append_envelope_tail`.
void append_envelope_head(std::string& out, std::string_view api_version, std::string_view kind,
                          std::size_t size);
void append_envelope_tail(std::string& out);
// All of it, with the message in it.
void append_envelope(std::string& out, std::string_view api_version, std::string_view kind,
                     const body& content);

// The message as protobuf, maps in the order of their keys: equal messages give equal bytes.
void append_wire(std::string& out, const body& content);

}  // namespace troupe::api
