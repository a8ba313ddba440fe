// What other servers (APIServices that name a service) say of their versions in /openapi/v2, cut
// down to what concerns these, for our own document.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "api/error.hpp"

namespace troupe::api {

// Texts of JSON.
struct foreign_openapi {
  std::map<std::string, std::string, std::less<>> paths = {};        // "/apis/GROUP/VERSION/..."
  std::map<std::string, std::string, std::less<>> definitions = {};  // by name
  std::size_t bytes() const;
  bool operator==(const foreign_openapi&) const = default;
};
using foreign_openapis = std::vector<std::shared_ptr<const foreign_openapi>>;

// Of an OpenAPI v2 document in JSON: the paths below /apis/GROUP/VERSION, and the definitions that
// these refer to, with all that those refer to. The error says in one line what is wrong with it,
// or that it is more than limits::foreign_openapi_bytes.
// kubernetes: kube-openapi/pkg/aggregator, FilterSpecByPathsWithoutSideEffects.
expected<foreign_openapi> read_openapi_v2(std::string_view text, const std::string& group,
                                          const std::string& version);

// All in one, without those names that `own` has, which go before (its texts do not matter). Of two
// definitions of one name that differ the later is renamed (NAME_v2), with all that refers to it.
// kubernetes: kube-openapi/pkg/aggregator, MergeSpecsIgnorePathConflictRenamingDefinitions.
foreign_openapi merge_openapi(const foreign_openapis& all, const foreign_openapi& own);

}  // namespace troupe::api
