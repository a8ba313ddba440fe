#include "server/rest/tables.hpp"

#include "api/codec.hpp"
#include "api/json_text.hpp"
#include "api/schema/meta_v1.pb.h"
#include "api/timestamp.hpp"

namespace troupe::server {

std::string table_json(const list_page& page, const table_options& options) {
  const std::string version = options.v1 ? "meta.k8s.io/v1" : "meta.k8s.io/v1beta1";
  std::string out = "{\"kind\":\"Table\",\"apiVersion\":\"" + version +
                    "\",\"metadata\":{\"resourceVersion\":\"" + std::to_string(page.revision) +
                    "\"},\"columnDefinitions\":[";
  if (options.columns)
    out +=
        R"({"name":"Name","type":"string","format":"name","description":"","priority":0},{"name":"Created At","type":"date","format":"","description":"","priority":0})";
  out += "],\"rows\":[";
  bool first = true;
  for (const auto& item : page.items) {
    if (!first) out += ',';
    first = false;
    out += "{\"cells\":[";
    api::append_json_string(out, item->meta().name());
    out += ',';
    api::append_json_string(out, api::format_time(item->meta().creation_timestamp().seconds()));
    out += "],\"object\":";
    api::meta::v1::PartialObjectMetadata meta;
    *meta.mutable_metadata() = item->meta();
    api::append_json(out, meta, version, "PartialObjectMetadata");
    out += '}';
  }
  out += "]}";
  return out;
}

}  // namespace troupe::server
