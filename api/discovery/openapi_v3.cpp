#include <functional>
#include <map>

#include "api/discovery/openapi.hpp"
#include "api/discovery/openapi_json.hpp"
#include "api/scheme.hpp"

namespace troupe::api {

namespace {

using documents = std::map<std::string, std::string, std::less<>>;

const documents& all_documents() {
  static const documents all = [] {
    documents made;
    for (const auto& version : scheme::instance().api_versions())
      made.emplace((version.find('/') == version.npos ? "api/" : "apis/") + version,
                   openapi::write_v3(version));
    return made;
  }();
  return all;
}

}  // namespace

const std::string& openapi_v3_index() {
  static const std::string index = [] {
    std::string text = "{\"paths\":{";
    for (const auto& [path, document] : all_documents()) {
      if (text.back() != '{') text += ',';
      text += "\"" + path + "\":{\"serverRelativeURL\":\"/openapi/v3/" + path +
              "?hash=" + std::to_string(std::hash<std::string>{}(document)) + "\"}";
    }
    return text + "}}";
  }();
  return index;
}

const std::string& openapi_v3_document(std::string_view path) {
  static const std::string nothing;
  const auto found = all_documents().find(path);
  return found == all_documents().end() ? nothing : found->second;
}

}  // namespace troupe::api
