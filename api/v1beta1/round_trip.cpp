// Keeps in one version the fields that the other cannot express.
#include <google/protobuf/message.h>

#include "api/codec/codec.hpp"
#include "api/conversion/carry_over.hpp"
#include "api/conversion/conversion.hpp"
#include "api/equality.hpp"
#include "api/invariant.hpp"
#include "api/object/object.hpp"
#include "api/schema/meta_object.pb.h"
#include "api/v1beta1/conversion.hpp"
#include "api/v1beta1/v1beta1.hpp"

namespace troupe::api::v1beta1 {
namespace {

std::unique_ptr<body> converted(const body& from, const kind_info& to) {
  auto made = conversions::instance().convert(from, to);
  ensure(made.has_value(), "kinds of v1beta1 have ways to the hub and back");
  return std::move(*made);
}

std::string annotation_of(const body& content) {
  const auto& annotations = meta_of(content).annotations();
  const auto found = annotations.find(std::string(kept_annotation));
  return found == annotations.end() ? std::string() : found->second;
}

// The stored object, with the current names of its ports.
std::unique_ptr<body> with_current_ports(const body& now, const body& stored) {
  std::unique_ptr<body> out(stored.New());
  out->CopyFrom(stored);
  if (now.GetDescriptor() == core::v1::Service::descriptor())
    follow_port(static_cast<const core::v1::Service&>(now), static_cast<core::v1::Service&>(*out));
  return out;
}

// Sets the annotation if the object needs one. An existing annotation is kept while it is needed.
void update_annotation(body& content, const body& external, const kind_info& kind,
                       const std::string& before) {
  auto& annotations = *meta_of(content).mutable_annotations();
  const std::string key(kept_annotation);
  annotations.erase(key);
  if (same_meaning(*converted(content, kind), external)) return;
  annotations[key] = before;
  if (!before.empty() && same_meaning(*from_hub(content, kind), external)) return;
  annotations[key] = encode_json(external, {}, {});
}

}  // namespace

std::unique_ptr<body> to_hub(const body& external, const body* stored) {
  const kind_info* named = kind_named(external.GetDescriptor()->name());
  ensure(named != nullptr, "a v1beta1 object is of a registered kind");
  const kind_info& kind = *named;
  const kind_info* hub = conversions::instance().hub(kind);
  ensure(hub != nullptr, "only kinds that the hub has are brought there");
  auto made = converted(external, *hub);
  if (stored != nullptr) {
    const auto before = with_current_ports(*made, *stored);
    carry_over(*made, *converted(*from_hub(*before, kind), *hub), *before);
  }
  update_annotation(*made, external, kind,
                    stored == nullptr ? std::string() : annotation_of(*stored));
  return made;
}

std::unique_ptr<body> from_hub(const body& content, const kind_info& external) {
  const std::string annotation = annotation_of(content);
  if (annotation.empty()) return converted(content, external);
  std::unique_ptr<body> bare(content.New());
  bare->CopyFrom(content);
  meta_of(*bare).mutable_annotations()->erase(std::string(kept_annotation));
  auto made = converted(*bare, external);
  // The annotation is untrusted: any client may have written it.
  auto written = external.make();
  if (!decode_into(annotation, media::json, *written)) return made;
  carry_over(*made,
             *converted(*converted(*written, *conversions::instance().hub(external)), external),
             *written);
  return made;
}

}  // namespace troupe::api::v1beta1
