// A SimulationPolicy: the behaviour of selected simulated pods and nodes, in stages. A stage only
// supplies values for annotations (settings.hpp) that an object lacks. docs/simulation.md is the
// user documentation. Pure.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <vector>

#include "api/schema/meta_object.pb.h"
#include "api/selectors/selector.hpp"

namespace troupe::actors::simulated {

enum class subject : std::uint8_t { pod, node };

// The subject of a stage: of the stages with one decision the first match applies.
enum class decision : std::uint8_t { start, ready, end, use, go_down, come_back };

struct stage {
  std::string name;
  subject of = subject::pod;
  decision decides = decision::start;
  std::vector<std::string> namespaces;  // empty: all
  api::label_selector labels;
  std::vector<std::pair<std::string, std::string>> annotations;
  double share = 1;                                        // of the selected objects
  double jitter = 0;                                       // of its time
  std::map<std::string, std::string, std::less<>> values;  // by the name of the annotation

  // Membership in the share is determined by the object's uid.
  bool fits(subject kind, const api::meta::v1::ObjectMeta& object) const;
};

class policy {
 public:
  // The error is a list of problems, each with the path of its field.
  static tl::expected<std::shared_ptr<const policy>, std::vector<std::string>> parse(
      std::string_view yaml);

  // The stages that apply to the object, at most one for each decision.
  std::vector<const stage*> stages_of(subject kind, const api::meta::v1::ObjectMeta& object) const;

 private:
  std::vector<stage> stages_;
};

using policy_ptr = std::shared_ptr<const policy>;  // null: there is none

}  // namespace troupe::actors::simulated
