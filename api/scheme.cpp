#include "api/scheme.hpp"

#include <google/protobuf/descriptor.h>

#include <algorithm>
#include <memory>
#include <tuple>

#include "api/invariant.hpp"
#include "api/schema/schema_files.hpp"

namespace troupe::api {

using google::protobuf::DescriptorPool;

const scheme& scheme::instance() {
  static const scheme only;
  return only;
}

scheme::scheme() {
  for (std::string_view path : schema_files()) {
    const auto* file = DescriptorPool::generated_pool()->FindFileByName(std::string(path));
    ensure(file != nullptr, "every file of the schema is linked into the program");
    for (int i = 0; i < file->message_type_count(); ++i) {
      const auto& type = *file->message_type(i);
      if (!type.options().HasExtension(kind)) continue;
      owned_.push_back(std::make_unique<kind_info>(type.options().GetExtension(kind), type));
      if (owned_.back()->serves("none"))
        index_stored(*owned_.back());
      else
        all_.push_back(owned_.back().get());
    }
  }
  std::sort(all_.begin(), all_.end(), [](const kind_info* a, const kind_info* b) {
    return std::tie(a->group(), a->version(), a->plural(), a->kind()) <
           std::tie(b->group(), b->version(), b->plural(), b->kind());
  });
  for (const kind_info* each : all_)
    index(*each);
}

void scheme::index(const kind_info& kind) {
  const bool fresh = by_kind_.emplace(names(kind.api_version(), kind.kind()), &kind).second;
  ensure(fresh, "a kind is described once in the schema");
  if (!kind.plural().empty()) by_resource_.emplace(names(kind.api_version(), kind.plural()), &kind);
  index_stored(kind);
}

void scheme::index_stored(const kind_info& kind) {
  by_type_.emplace(&kind.type(), &kind);
  if (kind.stored()) {
    const bool own_prefix = by_stored_plural_.emplace(kind.plural(), &kind).second;
    ensure(own_prefix, "no two stored kinds share a plural, which is their prefix in the store");
  }
}

const kind_info* scheme::find(std::string_view api_version, std::string_view kind) const {
  const auto it = by_kind_.find(names(api_version, kind));
  return it == by_kind_.end() ? nullptr : it->second;
}

const kind_info* scheme::find_resource(std::string_view group, std::string_view version,
                                       std::string_view plural) const {
  std::string api_version(group);
  if (!group.empty()) api_version += '/';
  api_version += version;
  const auto it = by_resource_.find(names(api_version, plural));
  return it == by_resource_.end() ? nullptr : it->second;
}

const kind_info* scheme::find_key(std::string_view key) const {
  constexpr std::string_view registry = "/registry/";
  if (!key.starts_with(registry)) return nullptr;
  key.remove_prefix(registry.size());
  const auto it = by_stored_plural_.find(key.substr(0, key.find('/')));
  return it == by_stored_plural_.end() ? nullptr : it->second;
}

const kind_info* scheme::find(const google::protobuf::Descriptor& type) const {
  const auto it = by_type_.find(&type);
  return it == by_type_.end() ? nullptr : it->second;
}

std::vector<std::string> scheme::api_versions() const {
  std::vector<std::string> out;
  for (const kind_info* each : all_)
    if (out.empty() || out.back() != each->api_version()) out.push_back(each->api_version());
  return out;
}

const kind_info& kind_of_type(const google::protobuf::Descriptor& type) {
  const kind_info* found = scheme::instance().find(type);
  ensure(found != nullptr, "a type that is asked for its kind has one");
  return *found;
}

}  // namespace troupe::api
