// What one form cannot say is kept in the other.
#include <google/protobuf/message.h>

#include "api/carry_over.hpp"
#include "api/codec.hpp"
#include "api/conversion.hpp"
#include "api/equality.hpp"
#include "api/invariant.hpp"
#include "api/object.hpp"
#include "api/schema/meta_object.pb.h"
#include "api/v1beta1/v1beta1.hpp"
#include "api/v1beta1/ways.hpp"

namespace troupe::api::v1beta1 {
namespace {

std::unique_ptr<body> plainly(const body& from, const kind_info& to) {
  auto made = conversions::instance().convert(from, to);
  ensure(made.has_value(), "kinds of v1beta1 have ways to the hub and back");
  return std::move(*made);
}

std::string kept_in(const body& content) {
  const auto& annotations = meta_of(content).annotations();
  const auto found = annotations.find(std::string(kept_annotation));
  return found == annotations.end() ? std::string() : found->second;
}

// What was stored, under the names that its parts have now.
std::unique_ptr<body> as_before(const body& now, const body& stored) {
  std::unique_ptr<body> out(stored.New());
  out->CopyFrom(stored);
  if (now.GetDescriptor() == core::v1::Service::descriptor())
    follow_port(static_cast<const core::v1::Service&>(now), static_cast<core::v1::Service&>(*out));
  return out;
}

// Adds the annotation where the object needs one. What was kept before stays while it does.
void keep(body& content, const body& external, const kind_info& kind, const std::string& before) {
  auto& annotations = *meta_of(content).mutable_annotations();
  const std::string key(kept_annotation);
  annotations.erase(key);
  if (same_meaning(*plainly(content, kind), external)) return;
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
  auto made = plainly(external, *hub);
  if (stored != nullptr) {
    const auto before = as_before(*made, *stored);
    carry_over(*made, *plainly(*from_hub(*before, kind), *hub), *before);
  }
  keep(*made, external, kind, stored == nullptr ? std::string() : kept_in(*stored));
  return made;
}

std::unique_ptr<body> from_hub(const body& content, const kind_info& external) {
  const std::string kept = kept_in(content);
  if (kept.empty()) return plainly(content, external);
  std::unique_ptr<body> bare(content.New());
  bare->CopyFrom(content);
  meta_of(*bare).mutable_annotations()->erase(std::string(kept_annotation));
  auto made = plainly(*bare, external);
  // Somebody may have written anything there.
  auto written = external.make();
  if (!decode_into(kept, media::json, *written)) return made;
  carry_over(*made, *plainly(*plainly(*written, *conversions::instance().hub(external)), external),
             *written);
  return made;
}

}  // namespace troupe::api::v1beta1
