// The path to a single value of an object, by JSON names: `status.phase`, `metadata.labels.app`,
// `status.containerStatuses[0].ready`. parse() checks it against the schema, so that a typo is
// found before a command waits for the value.
#pragma once

#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <vector>

#include "api/fwd.hpp"
#include "api/type_info.hpp"

namespace troupe::tools {

class field_path {
 public:
  // The text after the name of a map is the key; it may contain dots if the map's values have no
  // fields. The error names the wrong part and the most similar valid name.
  static tl::expected<field_path, std::string> parse(const google::protobuf::Descriptor& type,
                                                     std::string_view path);

  // The value as JSON writes it, without quotes; empty if not set. `object` has the path's type.
  std::string text_in(const api::body& object) const;

 private:
  struct step {
    const api::member* member;
    std::string key;  // for a map
    int index = 0;    // for a list
  };
  std::vector<step> steps_;
};

}  // namespace troupe::tools
