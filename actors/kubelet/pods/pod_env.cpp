#include "actors/kubelet/pods/pod_env.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "api/schema/core_config.pb.h"
#include "api/scheme.hpp"
#include "api/values/quantity.hpp"

namespace troupe::actors {

namespace {

using api::core::v1::ConfigMap;
using api::core::v1::Container;
using api::core::v1::EnvVarSource;
using api::core::v1::Pod;
using api::core::v1::ResourceFieldSelector;
using api::core::v1::Secret;
using text = tl::expected<std::string, std::string>;

constexpr std::size_t longest_label = 63;  // kubernetes: a label value, one part of a host name

class environment {
 public:
  void set(const std::string& name, std::string value) {
    const auto [found, added] = places_.try_emplace(name, all_.size());
    if (added)
      all_.emplace_back(name, std::move(value));
    else
      all_[found->second].second = std::move(value);
  }
  const std::string* find(std::string_view name) const {
    const auto found = places_.find(name);
    return found == places_.end() ? nullptr : &all_[found->second].second;
  }
  std::vector<std::string> lines() const {
    std::vector<std::string> result;
    for (const auto& [name, value] : all_)
      result.push_back(name + "=" + value);
    return result;
  }

 private:
  variables all_;
  std::map<std::string, std::size_t, std::less<>> places_;  // by name
};

// Replaces $(NAME) if the variable exists, otherwise leaves it; $$ becomes $.
template <class Find>
std::string expand(const std::string& from, Find find) {
  std::string out;
  for (std::size_t i = 0; i < from.size(); ++i) {
    if (from[i] != '$' || i + 1 == from.size()) {
      out += from[i];
    } else if (from[i + 1] == '$') {
      out += '$';
      ++i;
    } else if (const auto end = from.find(')', i); from[i + 1] == '(' && end != from.npos) {
      const std::string* value = find(std::string_view{from}.substr(i + 2, end - i - 2));
      out += value != nullptr ? *value : from.substr(i, end - i + 1);
      i = end;
    } else {
      out += from[i];
    }
  }
  return out;
}

text key_of(const Pod& pod, const object_reader& read, const api::kind_info& kind,
            const std::string& name, const std::string& key, bool optional, bool& absent) {
  const auto object = read(kind.key(pod.metadata().namespace_(), name));
  absent = false;
  if (object) {
    if (&kind == &api::kind_of<ConfigMap>()) {
      const auto& data = object->as<ConfigMap>().data();
      if (const auto found = data.find(key); found != data.end()) return found->second;
    } else {
      const auto& data = object->as<Secret>().data();
      if (const auto found = data.find(key); found != data.end()) return found->second;
    }
  }
  absent = optional;
  if (optional) return std::string{};
  if (!object)
    return tl::make_unexpected(kind.plural().substr(0, kind.plural().size() - 1) + " \"" + name +
                               "\" not found");
  return tl::make_unexpected("couldn't find key " + key + " in " + kind.kind() + " " +
                             pod.metadata().namespace_() + "/" + name);
}

text value_from(const Pod& pod, const Container& container, const EnvVarSource& from,
                const object_reader& read, bool& absent) {
  absent = false;
  if (from.has_field_ref()) return field_value(pod, from.field_ref().field_path());
  if (from.has_resource_field_ref()) {
    const auto& ref = from.resource_field_ref();
    const auto& named = ref.container_name();
    return resource_value(pod, named.empty() ? container.name() : named, ref);
  }
  if (from.has_config_map_key_ref()) {
    const auto& ref = from.config_map_key_ref();
    return key_of(pod, read, api::kind_of<ConfigMap>(), ref.local_object_reference().name(),
                  ref.key(), ref.optional(), absent);
  }
  if (from.has_secret_key_ref()) {
    const auto& ref = from.secret_key_ref();
    return key_of(pod, read, api::kind_of<Secret>(), ref.local_object_reference().name(), ref.key(),
                  ref.optional(), absent);
  }
  return std::string{};
}

// Adds all keys of a ConfigMap or Secret.
template <class Kind>
tl::expected<void, std::string> take_all(const Pod& pod, const object_reader& read,
                                         const std::string& prefix, const std::string& name,
                                         bool optional, environment& into) {
  const auto object = read(api::kind_of<Kind>().key(pod.metadata().namespace_(), name));
  if (!object) {
    if (optional) return {};
    return tl::make_unexpected(api::kind_of<Kind>().kind() + " \"" + name + "\" not found");
  }
  for (const auto& [key, value] : object->template as<Kind>().data())
    into.set(prefix + key, value);
  return {};
}

// kubernetes: kubelet_pods.go, GeneratePodHostNameAndDomain.
std::string hostname_of(const Pod& pod) {
  const auto& spec = pod.spec();
  if (!spec.hostname_override().empty()) return spec.hostname_override();
  return spec.hostname().empty() ? as_label(pod.metadata().name()) : spec.hostname();
}

// A map as the lines of a downward API file: key="value", sorted by key.
template <class Map>
std::string lines_of(const Map& map) {
  std::string text;
  for (const auto& [key, value] : std::map<std::string, std::string>{map.begin(), map.end()}) {
    text += (text.empty() ? "" : "\n") + key + "=\"";
    for (const char c : value)
      text += c == '"' || c == '\\' ? std::string{'\\', c}
              : c == '\n'           ? "\\n"
              : c == '\t'           ? "\\t"
                                    : std::string{c};
    text += '"';
  }
  return text;
}

// `all` may be missing in the status of an old node.
template <class Ips>
std::string joined_ips(const Ips& all, const std::string& first) {
  std::string text;
  for (const auto& each : all)
    text += (text.empty() ? "" : ",") + each.ip();
  return text.empty() ? first : text;
}

}  // namespace

void limit_to_machine(Pod& pod, const api::core::v1::NodeStatus& machine) {
  const auto limit = [&](auto& containers) {
    for (auto& container : containers)
      for (const char* name : {"cpu", "memory"})
        container.mutable_resources()->mutable_limits()->insert(
            {name, machine.allocatable().at(name)});
  };
  limit(*pod.mutable_spec()->mutable_init_containers());
  limit(*pod.mutable_spec()->mutable_containers());
}

text resource_value(const Pod& pod, const std::string& name, const ResourceFieldSelector& wanted) {
  const Container* of = nullptr;
  for (const auto* all : {&pod.spec().containers(), &pod.spec().init_containers()})
    for (const auto& container : *all)
      if (container.name() == name) of = &container;
  if (of == nullptr) return tl::make_unexpected("container " + name + " not found");
  const auto& resource = wanted.resource();
  const bool limit = resource.rfind("limits.", 0) == 0;
  const auto& all = limit ? of->resources().limits() : of->resources().requests();
  const auto found = all.find(resource.substr(resource.find('.') + 1));
  const auto amount = found == all.end()
                          ? api::quantity{}
                          : api::quantity::parse(found->second.string()).value_or(api::quantity{});
  // kubernetes: a divisor of 0 means 1.
  const auto divisor = api::quantity::parse(wanted.divisor().string()).value_or(api::quantity{});
  const auto by = divisor.sign() > 0 ? divisor.milli_value() : 1'000;
  const auto milli = amount.milli_value();
  return std::to_string(milli / by + (milli % by > 0));
}

text field_value(const Pod& pod, const std::string& path) {
  const auto& meta = pod.metadata();
  if (path == "metadata.name") return meta.name();
  if (path == "metadata.namespace") return meta.namespace_();
  if (path == "metadata.uid") return meta.uid();
  if (path == "spec.nodeName") return pod.spec().node_name();
  if (path == "spec.serviceAccountName") return pod.spec().service_account_name();
  if (path == "status.hostIP") return pod.status().host_ip();
  if (path == "status.hostIPs") return joined_ips(pod.status().host_ips(), pod.status().host_ip());
  if (path == "status.podIP") return pod.status().pod_ip();
  if (path == "status.podIPs") return joined_ips(pod.status().pod_ips(), pod.status().pod_ip());
  if (path == "metadata.labels") return lines_of(meta.labels());
  if (path == "metadata.annotations") return lines_of(meta.annotations());
  for (const auto& [prefix, map] : {std::pair{"metadata.labels['", &meta.labels()},
                                    std::pair{"metadata.annotations['", &meta.annotations()}}) {
    const std::string_view start{prefix};
    if (path.rfind(start, 0) != 0 || path.size() < start.size() + 2) continue;
    const auto found = map->find(path.substr(start.size(), path.size() - start.size() - 2));
    return found == map->end() ? std::string{} : found->second;
  }
  return tl::make_unexpected("unsupported fieldPath: " + path);
}

tl::expected<std::vector<std::string>, std::string> container_environment(
    const Pod& pod, const Container& container, const object_reader& read,
    const variables& services) {
  environment result;
  result.set("PATH", "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin");
  result.set("HOSTNAME", hostname_of(pod));
  for (const auto& [name, value] : services)
    result.set(name, value);
  for (const auto& from : container.env_from()) {
    tl::expected<void, std::string> taken;
    if (from.has_config_map_ref())
      taken = take_all<ConfigMap>(pod, read, from.prefix(),
                                  from.config_map_ref().local_object_reference().name(),
                                  from.config_map_ref().optional(), result);
    if (taken && from.has_secret_ref())
      taken = take_all<Secret>(pod, read, from.prefix(),
                               from.secret_ref().local_object_reference().name(),
                               from.secret_ref().optional(), result);
    if (!taken) return tl::make_unexpected(taken.error());
  }
  const auto find = [&result](std::string_view name) { return result.find(name); };
  for (const auto& variable : container.env()) {
    if (!variable.has_value_from()) {
      result.set(variable.name(), expand(variable.value(), find));
      continue;
    }
    bool absent = false;
    auto value = value_from(pod, container, variable.value_from(), read, absent);
    if (!value) return tl::make_unexpected(value.error());
    if (!absent) result.set(variable.name(), std::move(*value));
  }
  return result.lines();
}

namespace {

std::string expand_from(const std::string& text,
                        const std::vector<std::pair<std::string, std::string>>& variables) {
  return expand(text, [&variables](std::string_view name) -> const std::string* {
    for (const auto& [known, value] : variables)
      if (known == name) return &value;
    return nullptr;
  });
}

std::vector<std::pair<std::string, std::string>> split(const std::vector<std::string>& lines) {
  std::vector<std::pair<std::string, std::string>> variables;
  for (const auto& line : lines) {
    const auto equals = line.find('=');
    variables.emplace_back(line.substr(0, equals), line.substr(equals + 1));
  }
  return variables;
}

}  // namespace

std::vector<std::string> expand_words(const google::protobuf::RepeatedPtrField<std::string>& words,
                                      const std::vector<std::string>& environment) {
  const auto variables = split(environment);
  std::vector<std::string> expanded;
  for (const auto& word : words)
    expanded.push_back(expand_from(word, variables));
  return expanded;
}

std::string expand_variables(const std::string& text, const std::vector<std::string>& environment) {
  return expand_from(text, split(environment));
}

std::string as_label(std::string name) {
  name.resize(std::min(name.size(), longest_label));
  while (name.ends_with('-') || name.ends_with('.'))
    name.pop_back();
  return name;
}

}  // namespace troupe::actors
