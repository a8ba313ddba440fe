// The model of the API common to OpenAPI v2 and v3.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "api/scheme.hpp"

namespace troupe::api::openapi {

// A JSON schema. Extensions ("x-kubernetes-…") hold JSON text.
struct schema {
  // For a custom kind: the whole schema in both forms, as JSON; besides, only extensions are
  // set.
  std::string raw_v2, raw_v3;
  std::string ref;  // name of a definition; else only `description` and extensions are set
  std::string type;
  std::string format;
  std::string description;
  std::vector<std::string> allowed;  // "enum"; empty: any value
  bool int_or_string = false;
  std::shared_ptr<schema> items;   // of an array
  std::shared_ptr<schema> values;  // of a map
  std::vector<std::pair<std::string, schema>> properties;
  std::vector<std::string> required;
  std::vector<std::pair<std::string, std::string>> extensions;
};

using definitions = std::map<std::string, schema>;

struct operation {
  std::string method;   // "get", "post" …
  std::string action;   // x-kubernetes-action
  bool writes = false;  // has dryRun, fieldManager and fieldValidation
};

struct path {
  std::string url;
  const kind_info* kind;
  std::vector<operation> operations;
};

// Adds the definition of a message type and all that it refers to, with upstream's names.
void define(const google::protobuf::Descriptor& type, definitions& into);
std::string definition_name(const google::protobuf::Descriptor& type);

// The definitions of all kinds with their lists, or of those of one group version.
definitions define_all(const kind_table& kinds);
definitions define_version(const kind_table& kinds, std::string_view api_version);
std::vector<path> paths_of(const kind_info& kind);

// {"group":…,"kind":…,"version":…}
std::string group_version_kind(const kind_info& kind, const std::string& name);

}  // namespace troupe::api::openapi
