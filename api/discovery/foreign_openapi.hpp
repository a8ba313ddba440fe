// The parts of other servers' /openapi/v2 documents that describe their APIServices' versions, to
// be merged into our own document.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "api/error.hpp"

namespace troupe::api {

// Maps to JSON texts.
struct foreign_openapi {
  std::map<std::string, std::string, std::less<>> paths = {};        // "/apis/GROUP/VERSION/..."
  std::map<std::string, std::string, std::less<>> definitions = {};  // by name
  std::size_t bytes() const;
  bool operator==(const foreign_openapi&) const = default;
};
using foreign_openapis = std::vector<std::shared_ptr<const foreign_openapi>>;

// Reads an OpenAPI v2 document in JSON: keeps the paths below /apis/GROUP/VERSION/ and all
// definitions that they refer to, directly or indirectly. Fails with a one-line error if the
// document is invalid or this part exceeds limits::foreign_openapi_bytes.
// kubernetes: kube-openapi/pkg/aggregator, FilterSpecByPathsWithoutSideEffects.
expected<foreign_openapi> read_openapi_v2(std::string_view text, const std::string& group,
                                          const std::string& version);

// Merges all of them, without names that `own` has, whose entries take precedence (only its names
// are read). If two definitions of a name differ, the later one becomes NAME_v2, as do references.
// kubernetes: kube-openapi/pkg/aggregator, MergeSpecsIgnorePathConflictRenamingDefinitions.
foreign_openapi merge_openapi(const foreign_openapis& all, const foreign_openapi& own);

}  // namespace troupe::api
