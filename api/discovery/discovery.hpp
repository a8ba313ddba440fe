// Discovery, by which clients find resources by name: the documents of /api and /apis,
// plain (one for each group version) and aggregated (all at once). JSON texts, built from
// our kinds and those of other API servers, and cached until the kinds change. Thread
// safe.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "api/discovery/cached_document.hpp"
#include "api/discovery/foreign_versions.hpp"
#include "api/object/shared_text.hpp"

namespace troupe::api {

// Empty if there is no such group or version.
using document_text = shared_text;

class discovery_documents {
 public:
  // A foreign version replaces our own version of the same name.
  explicit discovery_documents(foreign_versions foreign = {});

  // /api: APIVersions.
  document_text core_versions();
  // /apis: APIGroupList.
  document_text groups();
  // /: the paths of these documents and of `others`, sorted (kubernetes: RootPaths).
  std::string paths(std::span<const std::string_view> others);
  // /apis/GROUP: APIGroup.
  document_text group(std::string_view group);
  // /api/v1, /apis/GROUP/VERSION: APIResourceList. Foreign servers serve their
  // own.
  document_text resources(std::string_view group, std::string_view version);
  // /api (`core`) or /apis: APIGroupDiscoveryList of apidiscovery.k8s.io/`version` ("v2",
  // "v2beta1").
  document_text aggregated(bool core, std::string_view version);

 private:
  // Keyed by path; aggregated ones by path and version.
  using documents = std::map<std::string, shared_text, std::less<>>;

  document_text find(const std::string& path);

  const foreign_versions foreign_;
  cached_document<documents> kept_;
};

}  // namespace troupe::api
