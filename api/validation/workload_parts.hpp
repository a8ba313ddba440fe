// Rules shared by several workload kinds; for files of this folder. `out.at` is the path of the
// spec.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "api/schema/core_pod.pb.h"
#include "api/schema/intstr.pb.h"
#include "api/selectors/selector.hpp"
#include "api/validation/checks.hpp"

namespace troupe::api::validation {

std::string labels_as_json(const core::v1::PodTemplateSpec& made_from);
// The template's labels match the selector. `out.at` is the path of the template.
void check_selected(field_errors& out, const core::v1::PodTemplateSpec& made_from,
                    const label_selector& selector);
// The template's pods match the selector of their owner, and have restartPolicy Always.
void check_template(field_errors& out, const core::v1::PodTemplateSpec& made_from,
                    const label_selector& selector, std::string_view kind);

// The selector and the template of an object of group apps. `about` is the kind's name in
// upstream's message.
template <class Spec>
void check_apps(field_errors& out, const Spec& spec, std::string_view kind,
                std::string_view about) {
  auto selector = label_selector();
  if (spec.has_selector()) {
    {
      const auto step = out.at.field("selector");
      check_label_selector(out, spec.selector());
    }
    auto compiled = label_selector::from(spec.selector());
    if (compiled) selector = std::move(*compiled);
    if (compiled && selector.everything())
      out.invalid_json("selector", "{}", "empty selector is invalid for " + std::string(about));
  }
  check_template(out, spec.template_(), selector, kind);
}

// A number of pods, or a percentage of them.
struct share {
  bool valid = false;
  std::int64_t amount = 0;  // pods, or percent
  bool percent = false;
};
share read_share(field_errors& out, std::string_view field, const intstr::IntOrString& value);
// The value as JSON.
std::string share_as_json(const intstr::IntOrString& value);
// For a valid share: at most 100%.
void check_at_most_all(field_errors& out, std::string_view field, const share& given,
                       const intstr::IntOrString& value);

}  // namespace troupe::api::validation
