#include "api/discovery/discovery.hpp"

#include <rapidjson/stringbuffer.h>
#include <rapidjson/writer.h>

#include <functional>
#include <map>

#include "api/scheme.hpp"

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

const std::vector<std::string_view> all_verbs{"create", "delete", "deletecollection", "get",
                                              "list",   "patch",  "update",           "watch"};

std::vector<std::string_view> verbs_of(const kind_info& kind) {
  const auto& own = kind.options().verbs();
  if (own.empty()) return all_verbs;
  return {own.begin(), own.end()};
}

std::string_view singular_of(const kind_info& kind) {
  return kind.options().singular();
}

std::string group_version(std::string_view group, std::string_view version) {
  return group.empty() ? std::string{version} : std::string{group} + "/" + std::string{version};
}

// Groups and their versions in the order of the scheme; kinds that are resources of their own.
using versions = std::map<std::string, std::vector<const kind_info*>>;
const std::map<std::string, versions>& groups() {
  static const auto all = [] {
    std::map<std::string, versions> found;
    for (const auto* kind : scheme::instance().all())
      if (!kind->plural().empty()) found[kind->group()][kind->version()].push_back(kind);
    return found;
  }();
  return all;
}

void write_resource(document& d, std::string_view name, std::string_view singular, bool namespaced,
                    const std::vector<std::string_view>& verbs, const std::function<void()>& rest) {
  d.object([&] {
    d.field("name", name);
    d.field("singularName", singular);
    d.flag("namespaced", namespaced);
    rest();
    d.strings("verbs", verbs);
  });
}

void write_resources(document& d, const kind_info& kind) {
  const auto& options = kind.options();
  write_resource(d, kind.plural(), singular_of(kind), kind.namespaced(), verbs_of(kind), [&] {
    d.field("kind", kind.kind());
    if (!options.short_names().empty()) d.strings("shortNames", options.short_names());
    if (!options.categories().empty()) d.strings("categories", options.categories());
  });
  for (const auto& below : subresources_of(kind))
    write_resource(d, kind.plural() + "/" + std::string{below.name}, "", kind.namespaced(),
                   below.verbs, [&] {
                     if (below.group != kind.group() || below.version != kind.version()) {
                       d.field("group", below.group);
                       d.field("version", below.version);
                     }
                     d.field("kind", below.kind);
                   });
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
  const auto& options = kind.options();
  d.object([&] {
    d.field("resource", kind.plural());
    write_kind(d, kind.group(), kind.version(), kind.kind());
    d.field("scope", kind.namespaced() ? "Namespaced" : "Cluster");
    d.field("singularResource", singular_of(kind));
    d.strings("verbs", verbs_of(kind));
    if (!options.short_names().empty()) d.strings("shortNames", options.short_names());
    if (!options.categories().empty()) d.strings("categories", options.categories());
    const auto below = subresources_of(kind);
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

std::string aggregate(bool core, std::string_view version) {
  document d;
  d.object([&] {
    d.field("kind", "APIGroupDiscoveryList");
    d.field("apiVersion", "apidiscovery.k8s.io/" + std::string{version});
    d.child("metadata", [] {});
    d.list("items", [&] {
      for (const auto& [group, of] : groups()) {
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

const std::string& nothing() {
  static const std::string empty;
  return empty;
}

}  // namespace

std::vector<subresource> subresources_of(const kind_info& kind) {
  const std::string_view group = kind.group(), version = kind.version(), own = kind.kind();
  std::vector<subresource> all;
  const auto add = [&](subresource each) { all.push_back(std::move(each)); };
  if (kind.options().has_scale())
    add({"scale", "autoscaling", "v1", "Scale", {"get", "patch", "update"}});
  if (kind.options().has_status()) add({"status", group, version, own, {"get", "patch", "update"}});
  if (own == "Pod") {
    add({"binding", "", "v1", "Binding", {"create"}});
    add({"ephemeralcontainers", "", "v1", "Pod", {"get", "patch", "update"}});
    add({"eviction", "policy", "v1", "Eviction", {"create"}});
    add({"log", "", "v1", "Pod", {"get"}});
  }
  if (own == "Namespace") add({"finalize", "", "v1", "Namespace", {"update"}});
  return all;
}

const std::string& core_versions_document() {
  static const std::string text = [] {
    document d;
    d.object([&] {
      d.field("kind", "APIVersions");
      d.list("versions", [&] {
        for (const auto& [version, kinds] : groups().at(""))
          d.text(version);
      });
      d.list("serverAddressByClientCIDRs", [] {});
    });
    return d.take();
  }();
  return text;
}

const std::string& groups_document() {
  static const std::string text = [] {
    document d;
    d.object([&] {
      d.field("kind", "APIGroupList");
      d.field("apiVersion", "v1");
      d.list("groups", [&] {
        for (const auto& [group, of] : groups())
          if (!group.empty())
            d.object([&, &group = group, &of = of] { write_group(d, group, of); });
      });
    });
    return d.take();
  }();
  return text;
}

const std::string& group_document(std::string_view group) {
  static const std::map<std::string, std::string, std::less<>> all = [] {
    std::map<std::string, std::string, std::less<>> texts;
    for (const auto& [name, of] : groups()) {
      if (name.empty()) continue;
      document d;
      d.object([&, &name = name, &of = of] {
        d.field("kind", "APIGroup");
        d.field("apiVersion", "v1");
        write_group(d, name, of);
      });
      texts.emplace(name, d.take());
    }
    return texts;
  }();
  const auto found = all.find(group);
  return found == all.end() ? nothing() : found->second;
}

const std::string& resources_document(std::string_view group, std::string_view version) {
  static const std::map<std::string, std::string, std::less<>> all = [] {
    std::map<std::string, std::string, std::less<>> texts;
    for (const auto& [name, of] : groups())
      for (const auto& [served, kinds] : of) {
        document d;
        const auto both = group_version(name, served);
        d.object([&, &kinds = kinds] {
          d.field("kind", "APIResourceList");
          d.field("apiVersion", "v1");
          d.field("groupVersion", both);
          d.list("resources", [&] {
            for (const auto* kind : kinds)
              write_resources(d, *kind);
          });
        });
        texts.emplace(both, d.take());
      }
    return texts;
  }();
  const auto found = all.find(group_version(group, version));
  return found == all.end() ? nothing() : found->second;
}

const std::string& aggregated_document(bool core, std::string_view version) {
  static const std::string texts[2][2] = {{aggregate(false, "v2"), aggregate(false, "v2beta1")},
                                          {aggregate(true, "v2"), aggregate(true, "v2beta1")}};
  return texts[core ? 1 : 0][version == "v2" ? 0 : 1];
}

}  // namespace troupe::api
