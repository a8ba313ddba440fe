#include "api/codec.hpp"

#include <google/protobuf/message.h>

#include "api/envelope.hpp"
#include "api/json_encode.hpp"
#include "api/plan.hpp"

namespace troupe::api {

void append_json(std::string& out, const body& content, std::string_view api_version,
                 std::string_view kind) {
  std::string wire;
  append_wire(wire, content);
  append_json(out, type_plan::of(*content.GetDescriptor()), wire, api_version, kind);
}

std::string encode_json(const body& content, std::string_view api_version, std::string_view kind) {
  std::string out;
  append_json(out, content, api_version, kind);
  return out;
}

std::string encode_protobuf(const body& content, std::string_view api_version,
                            std::string_view kind) {
  std::string out;
  append_envelope_head(out, api_version, kind, content.ByteSizeLong());
  append_wire(out, content);
  append_envelope_tail(out);
  return out;
}

}  // namespace troupe::api
