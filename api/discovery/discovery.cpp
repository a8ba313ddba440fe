#include "api/discovery/discovery.hpp"

#include <openssl/evp.h>
#include <rapidjson/stringbuffer.h>
#include <rapidjson/writer.h>

#include <algorithm>
#include <functional>
#include <map>
#include <set>
#include <span>
#include <vector>

#include "api/discovery/made_of_kinds.hpp"
#include "api/kind_row.hpp"
#include "api/values/base64.hpp"
#include "api/version_order.hpp"
#include "api/version_rules.hpp"

namespace troupe::api {

namespace {

// A JSON text from a few calls: object([&] { field("kind", "APIGroup"); … }).
class document {
 public:
  template <class F>
  void object(F fill) {
    out_.StartObject();
    fill();
    out_.EndObject();
  }
  template <class F>
  void list(std::string_view name, F fill) {
    key(name);
    out_.StartArray();
    fill();
    out_.EndArray();
  }
  template <class F>
  void child(std::string_view name, F fill) {
    key(name);
    object(fill);
  }
  void key(std::string_view name) {
    out_.Key(name.data(), static_cast<rapidjson::SizeType>(name.size()));
  }
  void text(std::string_view value) {
    out_.String(value.data(), static_cast<rapidjson::SizeType>(value.size()));
  }
  void field(std::string_view name, std::string_view value) {
    key(name);
    text(value);
  }
  void flag(std::string_view name, bool value) {
    key(name);
    out_.Bool(value);
  }
  template <class Strings>
  void strings(std::string_view name, const Strings& all) {
    list(name, [&] {
      for (const auto& each : all)
        text(each);
    });
  }
  std::string take() const { return {buffer_.GetString(), buffer_.GetSize()}; }

 private:
  rapidjson::StringBuffer buffer_;
  rapidjson::Writer<rapidjson::StringBuffer> out_{buffer_};
};

constexpr std::string_view all_verbs[] = {"create", "delete", "deletecollection", "get",
                                          "list",   "patch",  "update",           "watch"};
constexpr std::string_view part_verbs[] = {"get", "patch", "update"};

// While a definition ends, its objects can be read and deleted.
constexpr std::string_view verbs_at_the_end[] = {"delete", "deletecollection", "get", "list",
                                                 "watch"};

std::vector<std::string_view> verbs_of(const kind_info& kind) {
  if (const auto* rules = kind.rules(); rules && rules->terminating())
    return {std::begin(verbs_at_the_end), std::end(verbs_at_the_end)};
  const auto& own = kind.options().verbs();
  if (own.empty()) return {std::begin(all_verbs), std::end(all_verbs)};
  return {own.begin(), own.end()};
}

// An object's parts in the order of their paths.
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

// Of the version in which objects are stored, in eight bytes of a hash (kubernetes:
// apiserver/pkg/endpoints/discovery/storageversionhash.go); empty where nothing is stored.
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

// Which group a client takes where two have a resource of the same name (kubernetes:
// pkg/controlplane/apiserver/aggregator.go, apiVersionPriorities, of 1.33). Custom groups follow,
// then what another server would serve.
constexpr std::string_view first_groups[] = {"",
                                             "apiregistration.k8s.io",
                                             "apps",
                                             "events.k8s.io",
                                             "authentication.k8s.io",
                                             "authorization.k8s.io",
                                             "autoscaling",
                                             "batch",
                                             "certificates.k8s.io",
                                             "networking.k8s.io",
                                             "policy",
                                             "rbac.authorization.k8s.io",
                                             "storage.k8s.io",
                                             "admissionregistration.k8s.io",
                                             "apiextensions.k8s.io",
                                             "scheduling.k8s.io",
                                             "coordination.k8s.io",
                                             "node.k8s.io",
                                             "discovery.k8s.io",
                                             "resource.k8s.io",
                                             "flowcontrol.apiserver.k8s.io"};
constexpr std::string_view last_group = "metrics.k8s.io";

struct group_before {
  using is_transparent = void;
  static auto rank_of(std::string_view group) {
    const auto first = std::ranges::find(first_groups, group) - std::begin(first_groups);
    return first + (group == last_group ? 1 : 0);
  }
  bool operator()(std::string_view a, std::string_view b) const {
    const auto left = rank_of(a), right = rank_of(b);
    return left == right ? a < b : left < right;
  }
};

// Kinds that are resources of their own.
using versions = std::map<std::string, std::vector<const kind_info*>, version_before>;
using groups = std::map<std::string, versions, group_before>;

groups groups_of(const kind_table& kinds) {
  groups found;
  for (const auto* kind : kinds.all())
    if (!kind->plural().empty()) found[kind->group()][kind->version()].push_back(kind);
  return found;
}

// In the order of upstream's fields, as all documents here: people compare them.
void write_part(document& d, const kind_info& kind, const kind_part& part) {
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

void write_names(document& d, const kind_info& kind) {
  const auto& options = kind.options();
  if (!options.short_names().empty()) d.strings("shortNames", options.short_names());
  if (!options.categories().empty()) d.strings("categories", options.categories());
}

void write_resources(document& d, const kind_info& kind) {
  d.object([&] {
    d.field("name", kind.plural());
    d.field("singularName", singular_of(kind));
    d.flag("namespaced", kind.namespaced());
    d.field("kind", kind.kind());
    d.strings("verbs", verbs_of(kind));
    write_names(d, kind);
    if (const auto hash = storage_version_hash(kind); !hash.empty())
      d.field("storageVersionHash", hash);
  });
  for (const auto& each : parts_of(kind))
    write_part(d, kind, each);
}

void write_group(document& d, const std::string& group, const versions& of) {
  const auto write_version = [&](const std::string& version) {
    d.field("groupVersion", group_version(group, version));
    d.field("version", version);
  };
  d.field("name", group);
  d.list("versions", [&] {
    for (const auto& [version, kinds] : of)
      d.object([&] { write_version(version); });
  });
  d.child("preferredVersion", [&] { write_version(of.begin()->first); });
}

void write_kind(document& d, std::string_view group, std::string_view version,
                std::string_view kind) {
  d.child("responseKind", [&] {
    d.field("group", group);
    d.field("version", version);
    d.field("kind", kind);
  });
}

void write_aggregated(document& d, const kind_info& kind) {
  d.object([&] {
    d.field("resource", kind.plural());
    write_kind(d, kind.group(), kind.version(), kind.kind());
    d.field("scope", kind.namespaced() ? "Namespaced" : "Cluster");
    d.field("singularResource", singular_of(kind));
    d.strings("verbs", verbs_of(kind));
    write_names(d, kind);
    const auto below = parts_of(kind);
    if (below.empty()) return;
    d.list("subresources", [&] {
      for (const auto& each : below)
        d.object([&] {
          d.field("subresource", each.name);
          write_kind(d, each.group, each.version, each.kind);
          d.strings("verbs", each.verbs);
        });
    });
  });
}

std::string aggregate(const groups& all, bool core, std::string_view version) {
  document d;
  d.object([&] {
    d.field("kind", "APIGroupDiscoveryList");
    d.field("apiVersion", "apidiscovery.k8s.io/" + std::string{version});
    d.child("metadata", [] {});
    d.list("items", [&] {
      for (const auto& [group, of] : all) {
        if (group.empty() != core) continue;
        d.object([&, &group = group, &of = of] {
          d.child("metadata", [&] {
            if (!group.empty()) d.field("name", group);
          });
          d.list("versions", [&] {
            for (const auto& [served, kinds] : of)
              d.object([&, &served = served, &kinds = kinds] {
                d.field("version", served);
                d.list("resources", [&] {
                  for (const auto* kind : kinds)
                    write_aggregated(d, *kind);
                });
                d.field("freshness", "Current");
              });
          });
        });
      }
    });
  });
  return d.take();
}

std::string write_versions(const versions& core) {
  document d;
  d.object([&] {
    d.field("kind", "APIVersions");
    d.list("versions", [&] {
      for (const auto& [version, kinds] : core)
        d.text(version);
    });
    d.list("serverAddressByClientCIDRs", [] {});
  });
  return d.take();
}

std::string write_groups(const groups& all) {
  document d;
  d.object([&] {
    d.field("kind", "APIGroupList");
    d.field("apiVersion", "v1");
    d.list("groups", [&] {
      for (const auto& [group, of] : all)
        if (!group.empty()) d.object([&, &group = group, &of = of] { write_group(d, group, of); });
    });
  });
  return d.take();
}

std::string write_group(const std::string& name, const versions& of) {
  document d;
  d.object([&] {
    d.field("kind", "APIGroup");
    d.field("apiVersion", "v1");
    write_group(d, name, of);
  });
  return d.take();
}

std::string write_version(const std::string& both, const std::vector<const kind_info*>& kinds) {
  document d;
  d.object([&] {
    d.field("kind", "APIResourceList");
    // As upstream, whose core group is older than the versions of these documents.
    if (both.find('/') != both.npos) d.field("apiVersion", "v1");
    d.field("groupVersion", both);
    d.list("resources", [&] {
      for (const auto* kind : kinds)
        write_resources(d, *kind);
    });
  });
  return d.take();
}

// All documents of one table of kinds, by their paths; of aggregated ones by path and version.
using documents = std::map<std::string, shared_text, std::less<>>;

documents make_documents(const kind_table& kinds) {
  const auto all = groups_of(kinds);
  documents made;
  made["/api"] = shared_text{write_versions(all.at(""))};
  made["/apis"] = shared_text{write_groups(all)};
  for (const std::string version : {"v2", "v2beta1"}) {
    made["/api " + version] = shared_text{aggregate(all, true, version)};
    made["/apis " + version] = shared_text{aggregate(all, false, version)};
  }
  for (const auto& [name, of] : all) {
    if (!name.empty()) made["/apis/" + name] = shared_text{write_group(name, of)};
    for (const auto& [version, resources] : of) {
      const auto both = group_version(name, version);
      made[(name.empty() ? "/api/" : "/apis/") + both] =
          shared_text{write_version(both, resources)};
    }
  }
  return made;
}

document_text find_document(const std::string& path) {
  static made_of_kinds<documents> kept{&make_documents};
  const auto all = kept.get();
  const auto found = all->find(path);
  return found == all->end() ? shared_text{} : found->second;
}

}  // namespace

document_text core_versions_document() {
  return find_document("/api");
}

document_text groups_document() {
  return find_document("/apis");
}

std::string paths_document(std::span<const std::string_view> others) {
  std::set<std::string> paths{others.begin(), others.end()};
  for (const auto& [group, versions] : groups_of(*scheme::instance().kinds())) {
    const std::string root = group.empty() ? "/api" : "/apis";
    paths.insert(root);
    if (!group.empty()) paths.insert(root + "/" + std::string{group});
    for (const auto& [version, kinds] : versions)
      paths.insert(root + "/" + group_version(group, version));
  }
  document d;
  d.object([&] { d.strings("paths", paths); });
  return d.take();
}

document_text group_document(std::string_view group) {
  return find_document("/apis/" + std::string{group});
}

document_text resources_document(std::string_view group, std::string_view version) {
  return find_document((group.empty() ? "/api/" : "/apis/") + group_version(group, version));
}

document_text aggregated_document(bool core, std::string_view version) {
  return find_document((core ? "/api " : "/apis ") + std::string{version});
}

}  // namespace troupe::api
