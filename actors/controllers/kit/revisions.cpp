#include "actors/controllers/kit/revisions.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "actors/controllers/kit/name_hash.hpp"
#include "api/codec/codec.hpp"

namespace troupe::actors {

using api::apps::v1::ControllerRevision;
using api::core::v1::PodTemplateSpec;

namespace {

constexpr std::string_view data_begin = R"({"spec":{"template":{"$patch":"replace",)";
constexpr std::string_view data_end = "}}";

}  // namespace

std::string revision_data(const PodTemplateSpec& pod_template) {
  // Never "{}": metadata and spec of a template are always encoded.
  const auto text = api::encode_json(pod_template, {}, {});
  return std::string{data_begin}.append(text, 1).append(data_end);
}

std::optional<PodTemplateSpec> template_of(const api::object& revision) {
  const auto& data = revision.as<ControllerRevision>().data().raw();
  api::apps::v1::StatefulSet into;  // its spec.template has the format of both kinds
  if (!api::decode_into(data, api::media::json, into) || !into.spec().has_template_())
    return std::nullopt;
  return into.spec().template_();
}

revision_history::revision_history(std::vector<api::object_ptr> revisions)
    : revisions_{std::move(revisions)} {
  std::sort(revisions_.begin(), revisions_.end(), [](const auto& a, const auto& b) {
    return std::pair{number_of(*a), std::string_view{a->meta().name()}} <
           std::pair{number_of(*b), std::string_view{b->meta().name()}};
  });
}

api::object_ptr revision_history::with_data(std::string_view data) const {
  const auto found = std::find_if(revisions_.rbegin(), revisions_.rend(), [&](const auto& each) {
    return each->template as<ControllerRevision>().data().raw() == data;
  });
  return found == revisions_.rend() ? nullptr : *found;
}

api::object_ptr revision_history::named(std::string_view name) const {
  const auto found = std::find_if(revisions_.begin(), revisions_.end(), [&](const auto& each) {
    return std::string_view{each->meta().name()} == name;
  });
  return found == revisions_.end() ? nullptr : *found;
}

std::optional<std::int64_t> revision_history::next_number() const {
  if (revisions_.empty()) return 1;
  const auto highest = number_of(*revisions_.back());
  if (highest == std::numeric_limits<std::int64_t>::max()) return std::nullopt;
  return highest + 1;
}

std::optional<std::pair<api::object_ptr, std::int64_t>> revision_history::misnumbered() const {
  std::int64_t number = 0;
  for (const auto& each : revisions_)
    if (number_of(*each) != ++number) return std::pair{each, number};
  return std::nullopt;
}

std::vector<api::object_ptr> revision_history::expired(
    std::int32_t limit, const std::set<std::string, std::less<>>& live) const {
  std::vector<api::object_ptr> rest;
  for (const auto& each : revisions_)
    if (!live.contains(each->meta().name()) && !each->meta().has_deletion_timestamp())
      rest.push_back(each);
  const auto keep = static_cast<std::size_t>(std::max(limit, 0));
  rest.resize(rest.size() - std::min(rest.size(), keep));
  return rest;
}

std::unique_ptr<ControllerRevision> make_revision(const api::object& owner,
                                                  const PodTemplateSpec& pod_template,
                                                  std::int64_t number, std::int32_t collisions,
                                                  const char* hash_label) {
  auto made = std::make_unique<ControllerRevision>();
  auto data = revision_data(pod_template);
  const auto hash = name_hash(data, collisions);
  auto& meta = *made->mutable_metadata();
  meta.set_name(owner.meta().name() + "-" + hash);
  meta.set_namespace_(owner.meta().namespace_());
  *meta.mutable_labels() = pod_template.metadata().labels();
  (*meta.mutable_labels())[hash_label] = hash;
  *meta.mutable_annotations() = owner.meta().annotations();
  made->mutable_data()->set_raw(std::move(data));
  made->set_revision(number);
  return made;
}

std::int64_t number_of(const api::object& revision) {
  return revision.as<ControllerRevision>().revision();
}

}  // namespace troupe::actors
