#include "actors/kubelet/volumes/volume_content.hpp"

#include <fmt/format.h>

#include <map>
#include <utility>

#include "api/schema/core_config.pb.h"
#include "api/scheme.hpp"

namespace troupe::actors {

namespace {

using namespace api::core::v1;
using files = std::map<std::string, volume_file>;
using void_result = tl::expected<void, std::string>;
using items = google::protobuf::RepeatedPtrField<KeyToPath>;

// Rejects paths outside of the volume, and paths where updates are prepared.
void_result put(files& into, const std::string& path, std::string content, int mode) {
  if (path.empty() || path.front() == '/' || path.starts_with("..") ||
      ("/" + path + "/").find("/../") != std::string::npos)
    return tl::make_unexpected(fmt::format("path \"{}\" leads out of the volume", path));
  into[path] = {path, std::move(content), mode};
  return {};
}

// Adds all keys, or those selected by `chosen`.
void_result take_keys(files& into, const std::map<std::string, std::string>& data,
                      const items& chosen, int default_mode, bool optional,
                      const std::string& source) {
  for (const auto& [key, content] : data)
    if (chosen.empty())
      if (auto done = put(into, key, content, default_mode); !done) return done;
  for (const auto& item : chosen) {
    const auto found = data.find(item.key());
    if (found == data.end()) {
      if (optional) continue;
      return tl::make_unexpected(
          fmt::format("{} references non-existent key: {}", source, item.key()));
    }
    const int mode = item.has_mode() ? item.mode() : default_mode;
    if (auto done = put(into, item.path(), found->second, mode); !done) return done;
  }
  return {};
}

void_result take_config_map(files& into, const Pod& pod, const object_reader& read,
                            const std::string& name, const items& chosen, int mode, bool optional) {
  const auto object = read(api::kind_of<ConfigMap>().key(pod.metadata().namespace_(), name));
  if (!object) {
    if (optional) return {};
    return tl::make_unexpected(fmt::format("configmap \"{}\" not found", name));
  }
  const auto& map = object->as<ConfigMap>();
  std::map<std::string, std::string> data{map.data().begin(), map.data().end()};
  data.insert(map.binary_data().begin(), map.binary_data().end());
  return take_keys(into, data, chosen, mode, optional, "configmap \"" + name + "\"");
}

void_result take_secret(files& into, const Pod& pod, const object_reader& read,
                        const std::string& name, const items& chosen, int mode, bool optional) {
  const auto object = read(api::kind_of<Secret>().key(pod.metadata().namespace_(), name));
  if (!object) {
    if (optional) return {};
    return tl::make_unexpected(fmt::format("secret \"{}\" not found", name));
  }
  const auto& all = object->as<Secret>().data();
  return take_keys(into, {all.begin(), all.end()}, chosen, mode, optional,
                   "secret \"" + name + "\"");
}

tl::expected<std::string, std::string> fact(const Pod& pod, const DownwardAPIVolumeFile& file) {
  if (file.has_field_ref()) return field_value(pod, file.field_ref().field_path());
  const auto& ref = file.resource_field_ref();
  return resource_value(pod, ref.container_name(), ref);
}

template <class Source>
void_result take_facts(files& into, const Pod& pod, const Source& source, int default_mode) {
  for (const auto& file : source.items()) {
    auto text = fact(pod, file);
    if (!text) return tl::make_unexpected(text.error());
    const int mode = file.has_mode() ? file.mode() : default_mode;
    if (auto done = put(into, file.path(), std::move(*text), mode); !done) return done;
  }
  return {};
}

// kubernetes: volume/projected, collectData. Only the pod's user may read it, if that is known:
// with an fsGroup the group may too (volume_group.hpp).
void_result take_token(files& into, const Pod& pod, const pod_tokens& tokens,
                       const ServiceAccountTokenProjection& source, int mode) {
  const auto found = tokens.find(wanted_token(source));
  if (found == tokens.end())
    return tl::make_unexpected(std::string{"failed to fetch token: there is none yet"});
  const auto owner = user_of_all(pod);
  if (owner || pod.spec().security_context().has_fs_group()) mode = 0600;
  if (auto done = put(into, source.path(), found->second, mode); !done) return done;
  into[source.path()].owner = owner;
  return {};
}

// An unsupported source is left out: an event of the pod says so.
void_result take_projected(files& into, const Pod& pod, const object_reader& read,
                           const pod_tokens& tokens, const ProjectedVolumeSource& projected,
                           int mode) {
  for (const auto& source : projected.sources()) {
    void_result done;
    if (source.has_config_map()) {
      const auto& from = source.config_map();
      done = take_config_map(into, pod, read, from.local_object_reference().name(), from.items(),
                             mode, from.optional());
    } else if (source.has_secret()) {
      const auto& from = source.secret();
      done = take_secret(into, pod, read, from.local_object_reference().name(), from.items(), mode,
                         from.optional());
    } else if (source.has_downward_api()) {
      done = take_facts(into, pod, source.downward_api(), mode);
    } else if (source.has_service_account_token()) {
      done = take_token(into, pod, tokens, source.service_account_token(), mode);
    }
    if (!done) return done;
  }
  return {};
}

template <class Source>
int mode_of(const Source& source) {
  return source.has_default_mode() ? source.default_mode() : 0644;
}

}  // namespace

std::optional<uid_t> user_of_all(const Pod& pod) {
  const auto& own = pod.spec().security_context();
  std::optional<std::int64_t> user;
  bool first = true;
  const auto agree = [&](const Container& container) {
    const auto& context = container.security_context();
    std::optional<std::int64_t> wanted;
    if (context.has_run_as_user())
      wanted = context.run_as_user();
    else if (own.has_run_as_user())
      wanted = own.run_as_user();
    if (!std::exchange(first, false) && wanted != user) return false;
    user = wanted;
    return user.has_value();
  };
  for (const auto& container : pod.spec().init_containers())
    if (!agree(container)) return std::nullopt;
  for (const auto& container : pod.spec().containers())
    if (!agree(container)) return std::nullopt;
  if (!user) return std::nullopt;
  return static_cast<uid_t>(*user);
}

bool made_of_files(const VolumeSource& source) {
  return source.has_config_map() || source.has_secret() || source.has_downward_api() ||
         source.has_projected();
}

tl::expected<std::vector<volume_file>, std::string> volume_files(const Pod& pod,
                                                                 const VolumeSource& source,
                                                                 const object_reader& read,
                                                                 const pod_tokens& tokens) {
  files all;
  void_result done;
  if (source.has_config_map()) {
    const auto& from = source.config_map();
    done = take_config_map(all, pod, read, from.local_object_reference().name(), from.items(),
                           mode_of(from), from.optional());
  } else if (source.has_secret()) {
    const auto& from = source.secret();
    done = take_secret(all, pod, read, from.secret_name(), from.items(), mode_of(from),
                       from.optional());
  } else if (source.has_downward_api()) {
    done = take_facts(all, pod, source.downward_api(), mode_of(source.downward_api()));
  } else if (source.has_projected()) {
    done = take_projected(all, pod, read, tokens, source.projected(), mode_of(source.projected()));
  }
  if (!done) return tl::make_unexpected(done.error());
  std::vector<volume_file> result;
  for (auto& [path, file] : all)
    result.push_back(std::move(file));
  return result;
}

std::string digest_of(const std::vector<volume_file>& files) {
  // FNV-1a over lengths and bytes, twice with different start values.
  std::uint64_t a = 0xcbf29ce484222325, b = 0x9ae16a3b2f90404f;
  const auto take = [&](std::string_view text) {
    for (const unsigned char c : text) {
      a = (a ^ c) * 0x100000001b3;
      b = (b ^ c) * 0x100000001b3 + 1;
    }
  };
  for (const auto& file : files) {
    take(fmt::format("{}:{}:{}:", file.path.size(), file.content.size(), file.mode));
    if (file.owner) take(fmt::format("{}:", *file.owner));
    take(file.path);
    take(file.content);
  }
  return fmt::format("{:016x}{:016x}", a, b);
}

std::vector<std::string> unsupported_sources(const Pod& pod) {
  std::vector<std::string> paths;
  for (const auto& volume : pod.spec().volumes())
    for (const auto& source : volume.volume_source().projected().sources()) {
      if (source.has_config_map() || source.has_secret() || source.has_downward_api() ||
          source.has_service_account_token())
        continue;
      std::vector<const google::protobuf::FieldDescriptor*> set;
      source.GetReflection()->ListFields(source, &set);
      for (const auto* field : set)
        paths.push_back(fmt::format("spec.volumes{{{}}}.projected.{}", volume.name(),
                                    std::string{field->json_name()}));
    }
  return paths;
}

std::string volume_path(const Volume& volume) {
  const auto& source = volume.volume_source();
  const char* kind = source.has_empty_dir()      ? "empty-dir"
                     : source.has_config_map()   ? "configmap"
                     : source.has_secret()       ? "secret"
                     : source.has_downward_api() ? "downward-api"
                     : source.has_projected()    ? "projected"
                                                 : nullptr;
  return kind == nullptr ? std::string{} : fmt::format("kubernetes.io~{}/{}", kind, volume.name());
}

std::string volume_variable(const std::string& name) {
  std::string variable = "TROUPE_VOLUME_";
  for (const char c : name)
    variable += c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c == '-' ? '_' : c;
  return variable;
}

}  // namespace troupe::actors
