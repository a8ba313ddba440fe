#include "api/discovery/discovery.hpp"

#include <openssl/evp.h>

#include <algorithm>
#include <set>
#include <utility>
#include <vector>

#include "api/codec/document_writer.hpp"
#include "api/codec/json_text.hpp"
#include "api/discovery/served_groups.hpp"
#include "api/kind_row.hpp"
#include "api/values/base64.hpp"
#include "api/version_rules.hpp"

namespace troupe::api {

namespace {

constexpr std::string_view all_verbs[] = {"create", "delete", "deletecollection", "get",
                                          "list",   "patch",  "update",           "watch"};
constexpr std::string_view part_verbs[] = {"get", "patch", "update"};

// While a definition is being deleted, its objects can be read and deleted.
constexpr std::string_view verbs_at_the_end[] = {"delete", "deletecollection", "get", "list",
                                                 "watch"};

std::vector<std::string_view> verbs_of(const kind_info& kind) {
  if (const auto* rules = kind.rules(); rules && rules->terminating())
    return {std::begin(verbs_at_the_end), std::end(verbs_at_the_end)};
  const auto& own = kind.options().verbs();
  if (own.empty()) return {std::begin(all_verbs), std::end(all_verbs)};
  return {own.begin(), own.end()};
}

// The subresources of a kind in the order of their paths.
std::vector<kind_part> parts_of(const kind_info& kind) {
  std::vector<kind_part> all;
  if (kind.options().has_scale())
    all.push_back({"scale", "autoscaling", "v1", "Scale", part_verbs});
  if (kind.options().has_status())
    all.push_back({"status", kind.group(), kind.version(), kind.kind(), part_verbs});
  all.insert(all.end(), kind.row().parts.begin(), kind.row().parts.end());
  std::sort(all.begin(), all.end(),
            [](const kind_part& a, const kind_part& b) { return a.name < b.name; });
  return all;
}

// A hash of the storage version in eight bytes (kubernetes:
// apiserver/pkg/endpoints/discovery/storageversionhash.go); empty if nothing is stored.
std::string storage_version_hash(const kind_info& kind) {
  const auto& home = home_of(kind);
  if (!home.stored()) return {};
  const auto text = home.group() + "/" + home.version() + "/" + home.kind();
  unsigned char digest[EVP_MAX_MD_SIZE];
  EVP_Digest(text.data(), text.size(), digest, nullptr, EVP_sha256(), nullptr);
  std::string hash;
  append_base64(hash, {reinterpret_cast<const char*>(digest), 8});
  return hash;
}

std::string_view singular_of(const kind_info& kind) {
  return kind.options().singular();
}

std::string group_version(std::string_view group, std::string_view version) {
  return group.empty() ? std::string{version} : std::string{group} + "/" + std::string{version};
}

// In the order of upstream's fields, like all documents here, so that people can compare them.
void write_part(document_writer& d, const kind_info& kind, const kind_part& part) {
  d.object([&] {
    d.field("name", kind.plural() + "/" + std::string{part.name});
    d.field("singularName", "");
    d.flag("namespaced", kind.namespaced());
    if (part.group != kind.group() || part.version != kind.version()) {
      if (!part.group.empty()) d.field("group", part.group);
      d.field("version", part.version);
    }
    d.field("kind", part.kind);
    d.strings("verbs", part.verbs);
  });
}

template <class Strings>
void write_names(document_writer& d, const Strings& short_names, const Strings& categories) {
  if (!short_names.empty()) d.strings("shortNames", short_names);
  if (!categories.empty()) d.strings("categories", categories);
}

void write_resources(document_writer& d, const kind_info& kind) {
  d.object([&] {
    d.field("name", kind.plural());
    d.field("singularName", singular_of(kind));
    d.flag("namespaced", kind.namespaced());
    d.field("kind", kind.kind());
    d.strings("verbs", verbs_of(kind));
    write_names(d, kind.options().short_names(), kind.options().categories());
    if (const auto hash = storage_version_hash(kind); !hash.empty())
      d.field("storageVersionHash", hash);
  });
  for (const auto& each : parts_of(kind))
    write_part(d, kind, each);
}

void write_group(document_writer& d, const served_group& group) {
  const auto write_version = [&](const std::string& version) {
    d.field("groupVersion", group_version(group.name, version));
    d.field("version", version);
  };
  d.field("name", group.name);
  d.list("versions", [&] {
    for (const auto& each : group.versions)
      d.object([&] { write_version(each.version); });
  });
  d.object("preferredVersion", [&] { write_version(group.versions.front().version); });
}

void write_kind(document_writer& d, std::string_view group, std::string_view version,
                std::string_view kind) {
  d.object("responseKind", [&] {
    d.field("group", group);
    d.field("version", version);
    d.field("kind", kind);
  });
}

template <class Parts>
void write_aggregated_parts(document_writer& d, const Parts& parts) {
  if (parts.empty()) return;
  d.list("subresources", [&] {
    for (const auto& each : parts)
      d.object([&] {
        d.field("subresource", each.name);
        write_kind(d, each.group, each.version, each.kind);
        d.strings("verbs", each.verbs);
      });
  });
}

void write_aggregated(document_writer& d, const kind_info& kind) {
  d.object([&] {
    d.field("resource", kind.plural());
    write_kind(d, kind.group(), kind.version(), kind.kind());
    d.field("scope", kind.namespaced() ? "Namespaced" : "Cluster");
    d.field("singularResource", singular_of(kind));
    d.strings("verbs", verbs_of(kind));
    write_names(d, kind.options().short_names(), kind.options().categories());
    write_aggregated_parts(d, parts_of(kind));
  });
}

void write_aggregated(document_writer& d, const foreign_resource& resource) {
  d.object([&] {
    d.field("resource", resource.name);
    write_kind(d, resource.group, resource.version, resource.kind);
    d.field("scope", resource.namespaced ? "Namespaced" : "Cluster");
    d.field("singularResource", resource.singular);
    d.strings("verbs", resource.verbs);
    write_names(d, resource.short_names, resource.categories);
    write_aggregated_parts(d, resource.parts);
  });
}

void write_aggregated(document_writer& d, const served_version& version) {
  d.object([&] {
    d.field("version", version.version);
    d.list("resources", [&] {
      for (const auto* kind : version.kinds)
        write_aggregated(d, *kind);
      if (version.foreign == nullptr) return;
      for (const auto& resource : version.foreign->resources)
        write_aggregated(d, resource);
    });
    const bool stale = version.foreign != nullptr && version.foreign->stale;
    d.field("freshness", stale ? "Stale" : "Current");
  });
}

std::string aggregate(const served_groups& all, bool core, std::string_view version) {
  document_writer d;
  d.object([&] {
    d.field("kind", "APIGroupDiscoveryList");
    d.field("apiVersion", "apidiscovery.k8s.io/" + std::string{version});
    d.object("metadata", [] {});
    d.list("items", [&] {
      for (const auto& group : all) {
        if (group.name.empty() != core) continue;
        d.object([&] {
          d.object("metadata", [&] {
            if (!group.name.empty()) d.field("name", group.name);
          });
          d.list("versions", [&] {
            for (const auto& served : group.versions)
              write_aggregated(d, served);
          });
        });
      }
    });
  });
  return d.take();
}

std::string write_versions(const served_group& core) {
  document_writer d;
  d.object([&] {
    d.field("kind", "APIVersions");
    d.list("versions", [&] {
      for (const auto& each : core.versions)
        d.text(each.version);
    });
    d.list("serverAddressByClientCIDRs", [] {});
  });
  return d.take();
}

std::string write_groups(const served_groups& all) {
  document_writer d;
  d.object([&] {
    d.field("kind", "APIGroupList");
    d.field("apiVersion", "v1");
    d.list("groups", [&] {
      for (const auto& group : all)
        if (!group.name.empty()) d.object([&] { write_group(d, group); });
    });
  });
  return d.take();
}

std::string write_one_group(const served_group& group) {
  document_writer d;
  d.object([&] {
    d.field("kind", "APIGroup");
    d.field("apiVersion", "v1");
    write_group(d, group);
  });
  return d.take();
}

std::string write_version(const std::string& both, const std::vector<const kind_info*>& kinds) {
  document_writer d;
  d.object([&] {
    d.field("kind", "APIResourceList");
    // As upstream, whose core group is older than these documents' version.
    if (both.find('/') != both.npos) d.field("apiVersion", "v1");
    d.field("groupVersion", both);
    d.list("resources", [&] {
      for (const auto* kind : kinds)
        write_resources(d, *kind);
    });
  });
  return d.take();
}

std::map<std::string, shared_text, std::less<>> make_documents(const served_groups& all) {
  std::map<std::string, shared_text, std::less<>> made;
  made["/apis"] = shared_text{write_groups(all)};
  for (const std::string version : {"v2", "v2beta1"}) {
    made["/api " + version] = shared_text{aggregate(all, true, version)};
    made["/apis " + version] = shared_text{aggregate(all, false, version)};
  }
  for (const auto& group : all) {
    const bool core = group.name.empty();
    made[core ? "/api" : "/apis/" + group.name] =
        shared_text{core ? write_versions(group) : write_one_group(group)};
    for (const auto& each : group.versions) {
      if (each.foreign != nullptr) continue;
      const auto both = group_version(group.name, each.version);
      made[(core ? "/api/" : "/apis/") + both] = shared_text{write_version(both, each.kinds)};
    }
  }
  return made;
}

}  // namespace

discovery_documents::discovery_documents(foreign_versions foreign)
    : foreign_{std::move(foreign)}, kept_{[this](const kind_table& kinds) {
        return make_documents(groups_of(kinds, foreign_));
      }} {}

document_text discovery_documents::find(const std::string& path) {
  const auto all = kept_.get();
  const auto found = all->find(path);
  return found == all->end() ? shared_text{} : found->second;
}

document_text discovery_documents::core_versions() {
  return find("/api");
}

document_text discovery_documents::groups() {
  return find("/apis");
}

std::string discovery_documents::paths(std::span<const std::string_view> others) {
  std::set<std::string> paths{others.begin(), others.end()};
  for (const auto& group : groups_of(*scheme::instance().kinds(), foreign_)) {
    const std::string root = group.name.empty() ? "/api" : "/apis";
    paths.insert(root);
    if (!group.name.empty()) paths.insert(root + "/" + group.name);
    for (const auto& each : group.versions)
      paths.insert(root + "/" + group_version(group.name, each.version));
  }
  // Indented, as upstream's.
  std::string out = "{\n  \"paths\": [";
  for (const auto& path : paths)
    out += (out.ends_with('[') ? "\n    " : ",\n    ") + quoted(path);
  return out + "\n  ]\n}";
}

document_text discovery_documents::group(std::string_view group) {
  return find("/apis/" + std::string{group});
}

document_text discovery_documents::resources(std::string_view group, std::string_view version) {
  return find((group.empty() ? "/api/" : "/apis/") + group_version(group, version));
}

document_text discovery_documents::aggregated(bool core, std::string_view version) {
  return find((core ? "/api " : "/apis ") + std::string{version});
}

}  // namespace troupe::api
