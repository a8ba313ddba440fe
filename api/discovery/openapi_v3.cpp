#include <functional>
#include <map>

#include "api/discovery/cached_document.hpp"
#include "api/discovery/openapi.hpp"
#include "api/discovery/openapi_json.hpp"

namespace troupe::api {

namespace {

// Keyed by path.
using documents = std::map<std::string, shared_text, std::less<>>;

documents make_documents(const kind_table& kinds) {
  documents made;
  for (const auto& version : kinds.api_versions())
    made.emplace((version.find('/') == version.npos ? "api/" : "apis/") + version,
                 shared_text{openapi::write_v3(kinds, version)});
  return made;
}

std::shared_ptr<const documents> all_documents() {
  static cached_document<documents> kept{&make_documents};
  return kept.get();
}

}  // namespace

document_text openapi_v3_index() {
  static cached_document<shared_text> kept{[](const kind_table& kinds) {
    std::string text = "{\"paths\":{";
    for (const auto& [path, document] : make_documents(kinds)) {
      if (text.back() != '{') text += ',';
      text += "\"" + path + "\":{\"serverRelativeURL\":\"/openapi/v3/" + path +
              "?hash=" + std::to_string(std::hash<std::string_view>{}(*document)) + "\"}";
    }
    return shared_text{text + "}}"};
  }};
  return *kept.get();
}

document_text openapi_v3_document(std::string_view path) {
  const auto all = all_documents();
  const auto found = all->find(path);
  return found == all->end() ? shared_text{} : found->second;
}

}  // namespace troupe::api
