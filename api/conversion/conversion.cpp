#include "api/conversion/conversion.hpp"

#include <google/protobuf/message.h>

#include "api/codec/json_decode.hpp"
#include "api/codec/json_text.hpp"
#include "api/conversion/default_copy.hpp"
#include "api/invariant.hpp"
#include "api/scheme.hpp"

namespace troupe::api {

using google::protobuf::Descriptor;

void conversions::add(const Descriptor& external, const Descriptor* hub) {
  ensure(external.options().HasExtension(kind), "a registered type says which kind it is");
  owned_.push_back(std::make_unique<kind_info>(external.options().GetExtension(kind), external));
  const kind_info* made = owned_.back().get();
  const bool fresh = by_kind_.emplace(names(made->api_version(), made->kind()), made).second;
  ensure(fresh, "a kind is registered once in each version");
  by_resource_.emplace(names(made->version(), made->plural()), made);
  if (hub != nullptr) hubs_.emplace(made, &kind_of_type(*hub));
  all_.push_back(made);
}

kind_handle conversions::find(std::string_view api_version, std::string_view kind) const {
  const auto found = by_kind_.find(names(api_version, kind));
  if (found != by_kind_.end()) return found->second;
  return scheme::instance().find(api_version, kind);
}

const kind_info* conversions::find_resource(std::string_view version,
                                            std::string_view plural) const {
  const auto found = by_resource_.find(names(version, plural));
  return found == by_resource_.end() ? nullptr : found->second;
}

const kind_info* conversions::hub(const kind_info& kind) const {
  if (kind.custom() || scheme::instance().find(kind.type()) == &kind) return &kind;
  const auto found = hubs_.find(&kind);
  return found == hubs_.end() ? nullptr : found->second;
}

bool conversions::knows_version(std::string_view api_version) const {
  for (const kind_info* each : all_)
    if (each->api_version() == api_version) return true;
  for (const std::string& each : scheme::instance().api_versions())
    if (each == api_version) return true;
  return false;
}

expected<std::unique_ptr<body>> conversions::convert(const body& from, const kind_info& to) const {
  auto made = to.make();
  const auto found = functions_.find({from.GetDescriptor(), &to.type()});
  if (found != functions_.end()) {
    found->second(from, *made);
  } else if (!default_copy(from, *made)) {
    return fail(internal("no conversion from " + from.GetDescriptor()->full_name() + " to " +
                         to.kind() + " in version " + quoted(to.api_version())));
  }
  set_defaults(*made);
  return made;
}

void conversions::set_defaults(body& content) const {
  const auto found = defaults_.find(content.GetDescriptor());
  if (found != defaults_.end()) found->second(content);
}

expected<decoded> conversions::decode(std::string_view bytes, media form,
                                      const kind_info* expected_kind,
                                      const decode_options& options) const {
  std::string text;
  if (form == media::yaml) {
    auto json = yaml_to_json(bytes, options);
    if (!json) return fail(std::move(json.error()));
    text = std::move(*json);
    bytes = text;
    form = media::json;
  }
  kind_handle kind = expected_kind;
  if (!kind && form == media::json) {
    const type_names given = find_type_names(bytes);
    if (!given.api_version.empty() && !knows_version(given.api_version))
      return fail(bad_request("no version " + quoted(given.api_version) + " is registered"));
    kind = find(given.api_version, given.kind);
    if (!kind && !given.kind.empty() && !given.api_version.empty())
      return fail(bad_request("no kind " + quoted(given.kind) + " is registered for version " +
                              quoted(given.api_version)));
  }
  auto read = api::decode(bytes, form, kind.get(), options);
  if (read) set_defaults(*read->content);
  return read;
}

}  // namespace troupe::api
