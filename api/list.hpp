// Lists for the wire, put together from objects that are encoded already: each object is copied,
// none is encoded again.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/fwd.hpp"
#include "api/kind.hpp"

namespace troupe::api {

struct list_header {
  std::string_view api_version;  // "v1"
  std::string_view kind;         // "PodList"
  std::string_view resource_version;
  std::string_view continue_token;  // empty: this is the last page
  std::optional<std::int64_t> remaining;
};

// "PodList" for pods: what a list of the kind is called.
std::string list_kind(const kind_info& kind);

// Items keep their own kind and apiVersion (upstream leaves them out; clients take both).
void append_list_json(std::string& out, const list_header& header,
                      const std::vector<object_ptr>& items);
// The whole `k8s\0` envelope.
void append_list_protobuf(std::string& out, const list_header& header,
                          const std::vector<object_ptr>& items);

}  // namespace troupe::api
