#include "system/planes/stored_keys.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <stdexcept>

#include "api/codec/codec.hpp"
#include "api/schema/meta_object.pb.h"
#include "api/scheme.hpp"
#include "persistence/replica/upstream_keys.hpp"
#include "system/network/joined_cluster.hpp"
#include "system/planes/stored_facts.hpp"

namespace troupe::test {

using persistence::revision;

namespace {

constexpr std::size_t all_bytes = 1u << 30, listed_differences = 20;
constexpr std::string_view key_field = "\"Key\" : \"", revision_field = "\"ModRevision\" : ";

revision revision_of_text(std::string_view text) {
  revision number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

}  // namespace

key_revisions read_keys(std::string_view output) {
  key_revisions keys;
  std::string key;
  while (!output.empty()) {
    const auto line = output.substr(0, output.find('\n'));
    output.remove_prefix(std::min(line.size() + 1, output.size()));
    if (line.starts_with(key_field) && line.ends_with('"'))
      key = unquoted(line.substr(key_field.size(), line.size() - key_field.size() - 1));
    else if (line.starts_with(revision_field))
      keys[key] = revision_of_text(line.substr(revision_field.size()));
  }
  return keys;
}

key_revisions part_of(const key_revisions& keys, const std::string& prefix) {
  key_revisions part;
  for (auto each = keys.lower_bound(prefix); each != keys.end() && each->first.starts_with(prefix);
       ++each)
    part.insert(*each);
  return part;
}

std::vector<std::string> strangers(const key_revisions& in_etcd) {
  std::vector<std::string> found;
  for (const auto& [key, at] : in_etcd) {
    const auto here = persistence::upstream_keys::instance().from_log(key);
    if (!here || !api::scheme::instance().find_key(*here))
      found.push_back(fmt::format("{} at {} belongs to no kind", key, at));
  }
  return found;
}

std::optional<key_revisions> shown_by(const machine& plane, const api::kind_info& kind) try {
  const auto path =
      fmt::format("{}/{}/{}?resourceVersion=0", kind.group().empty() ? "/api" : "/apis",
                  kind.api_version(), kind.plural());
  const auto answer = client_on(plane)->request(
      "GET", path, {},
      {{"accept", "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1"}});
  api::meta::v1::PartialObjectMetadataList there;
  // The events of some hours are larger than a request may be.
  const api::decode_options any_size{.size_limit_bytes = all_bytes,
                                     .memory_limit_bytes = all_bytes};
  if (answer.status != 200 || !api::decode_into(answer.body, api::media::json, there, any_size))
    return std::nullopt;
  key_revisions shown;
  for (const auto& each : there.items()) {
    const auto& meta = each.metadata();
    const auto place = kind.namespaced() ? meta.namespace_() + "/" : std::string{};
    shown[kind.etcd_prefix() + place + meta.name()] = revision_of_text(meta.resource_version());
  }
  return shown;
} catch (const std::runtime_error&) {
  return std::nullopt;
}

std::vector<std::string> differences(const key_revisions& in_etcd, const key_revisions& shown) {
  std::vector<std::string> found;
  for (const auto& [key, at] : in_etcd) {
    const auto same = shown.find(key);
    if (same == shown.end())
      found.push_back(fmt::format("{} is in etcd at {}, and is not shown", key, at));
    else if (same->second != at)
      found.push_back(
          fmt::format("{} is in etcd at {}, and is shown at {}", key, at, same->second));
  }
  for (const auto& [key, at] : shown)
    if (!in_etcd.contains(key))
      found.push_back(fmt::format("{} is shown at {}, and is not in etcd", key, at));
  if (const auto all = found.size(); all > listed_differences) {
    found.resize(listed_differences);
    found.push_back(fmt::format("{} differences in all", all));
  }
  return found;
}

}  // namespace troupe::test
