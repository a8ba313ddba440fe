// The path to a single value of an object, by its names in JSON: `status.phase`,
// `metadata.labels.app`, `status.containerStatuses[0].ready`. Checked against the schema when it is
// read, so that a typo is found before a command waits for it.
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
  // What follows the name of a map is the key, with its dots where the values have no fields. The
  // error names the part that is wrong, and the nearest right one.
  static tl::expected<field_path, std::string> parse(const google::protobuf::Descriptor& type,
                                                     std::string_view path);

  // As JSON writes it, without quotes; empty where there is none. `object` is of the path's type.
  std::string text_in(const api::body& object) const;

 private:
  struct step {
    const api::member* member;
    std::string key;  // of a map
    int index = 0;    // of a list
  };
  std::vector<step> steps_;
};

}  // namespace troupe::tools
