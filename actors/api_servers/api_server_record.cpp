#include "actors/api_servers/api_server_record.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <utility>

#include "actors/api_servers/defaults.hpp"
#include "actors/core/labels.hpp"
#include "api/schema/meta_object.pb.h"
#include "api/scheme.hpp"
#include "api/values/text_parts.hpp"

namespace troupe::actors {

using api::coordination::v1::Lease;

namespace {

constexpr std::string_view lease_prefix = "apiserver-";
constexpr const char* api_annotation = "troupe.dev/api-address";
constexpr const char* link_annotation = "troupe.dev/link-address";
constexpr const char* key_annotation = "troupe.dev/server-key";
// kubernetes: pkg/controlplane/apiserver, IdentityLeaseComponentLabelKey.
constexpr const char* identity_label = "apiserver.kubernetes.io/identity";
constexpr const char* identity = "kube-apiserver";

// In order of the name.
template <class F>
void scan_records(const persistence::snapshot& state, F visit) {
  std::size_t left = api_server_defaults::api_servers;
  const auto prefix = api::kind_of<Lease>().prefix(api_server_namespace);
  state.scan(prefix, {}, [&](std::string_view, const api::object_ptr& object) {
    auto read = read_api_server(object->as<Lease>());
    if (!read) return true;
    visit(std::move(*read), object->revision());
    return --left > 0;
  });
}

}  // namespace

std::string api_server_lease(std::string_view name) {
  return std::string{lease_prefix}.append(name);
}

void complete(Lease& lease, const api_server_record& of, runtime::wall_time now) {
  auto& meta = *lease.mutable_metadata();
  meta.set_name(api_server_lease(of.name));
  meta.set_namespace_(api_server_namespace);
  (*meta.mutable_labels())[identity_label] = identity;
  for (const auto& [name, value] : {std::pair{api_annotation, &of.api},
                                    {link_annotation, &of.link},
                                    {key_annotation, &of.key_hash}})
    (*meta.mutable_annotations())[name] = *value;
  auto& spec = *lease.mutable_spec();
  spec.set_holder_identity(of.name);
  const auto lifetime = api_server_defaults::renewal * api_server_defaults::missed_renewals;
  spec.set_lease_duration_seconds(static_cast<std::int32_t>(
      std::chrono::duration_cast<std::chrono::seconds>(lifetime).count()));
  const auto micros =
      std::chrono::duration_cast<std::chrono::microseconds>(now.time_since_epoch()).count();
  spec.mutable_renew_time()->set_seconds(micros / 1'000'000);
  spec.mutable_renew_time()->set_nanos(static_cast<std::int32_t>(micros % 1'000'000 * 1'000));
}

std::optional<api_server_record> read_api_server(const Lease& lease) {
  std::string_view name = lease.metadata().name();
  api_server_record read{.name = {},
                         .api = annotation_of(lease.metadata(), api_annotation),
                         .link = annotation_of(lease.metadata(), link_annotation),
                         .key_hash = annotation_of(lease.metadata(), key_annotation)};
  if (!name.starts_with(lease_prefix) || read.api.empty()) return std::nullopt;
  name.remove_prefix(lease_prefix.size());
  read.name = name;
  return read;
}

std::string write_api_servers(const api_server_records& records) {
  std::string text;
  for (const auto& each : records) {
    if (!text.empty()) text += ',';
    text += each.name + "/" + each.api + "/" + each.link + "/" + each.key_hash;
  }
  return text;
}

api_server_records read_api_servers(std::string_view text) {
  api_server_records records;
  text = text.substr(0, api_server_defaults::text_limit_bytes);
  while (!text.empty() && records.size() < api_server_defaults::api_servers) {
    auto part = api::take_part(text, ',');
    if (std::count(part.begin(), part.end(), '/') != 3) continue;
    api_server_record read;
    for (auto* field : {&read.name, &read.api, &read.link, &read.key_hash})
      *field = api::take_part(part, '/');
    if (!read.name.empty() && !read.api.empty()) records.push_back(std::move(read));
  }
  return records;
}

api_server_records read_api_servers(const persistence::snapshot& state) {
  api_server_records records;
  scan_records(state, [&](api_server_record read, persistence::revision) {
    records.push_back(std::move(read));
  });
  return records;
}

api_server_watch::found api_server_watch::check(const persistence::snapshot& state,
                                                std::string_view own) {
  found result;
  std::map<std::string, seen, std::less<>> now;
  std::map<std::string, api_server_record, std::less<>> records;
  scan_records(state, [&](api_server_record read, persistence::revision at) {
    now.emplace(read.name, seen{at, 0});
    records.emplace(read.name, std::move(read));
  });
  const auto mine = now.find(own);
  const auto before = seen_.find(own);
  const bool renewed =
      mine != now.end() && before != seen_.end() && mine->second.at != before->second.at;
  for (auto& [name, each] : now) {
    const auto last = seen_.find(name);
    const bool same = last != seen_.end() && last->second.at == each.at;
    if (same) each.missed = last->second.missed + (renewed ? 1 : 0);
    if (name != own && each.missed >= api_server_defaults::missed_renewals)
      result.dead.emplace(name, each.at);
    else
      result.live.push_back(records.at(name));
  }
  seen_ = std::move(now);
  return result;
}

}  // namespace troupe::actors
