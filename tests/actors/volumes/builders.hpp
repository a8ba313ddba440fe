// Claims, volumes and classes for tests, from YAML.
#pragma once

#include <string>

#include "actors/volumes/claim_rules.hpp"
#include "api/codec/codec.hpp"
#include "api/scheme.hpp"

namespace troupe::actors::volumes {

template <class T>
api::object_ptr parse(const std::string& yaml, std::uint64_t revision = 1) {
  auto decoded = api::decode(yaml, api::media::yaml, &api::kind_of<T>());
  if (!decoded) throw std::invalid_argument{decoded.error().message};
  return std::make_shared<api::object>(*decoded->kind, std::move(decoded->content), revision);
}

// `spec`: more fields of the spec, after a comma.
inline api::object_ptr make_claim(const std::string& name, const std::string& size,
                                  const std::string& spec = {}, const std::string& meta = {},
                                  const std::string& phase = "Pending") {
  return parse<PersistentVolumeClaim>("metadata: {name: " + name +
                                      ", namespace: default, uid: " + name + "-uid" + meta +
                                      "}\nspec: {accessModes: [ReadWriteOnce], resources: "
                                      "{requests: {storage: " +
                                      size + "}}" + spec + "}\nstatus: {phase: " + phase + "}\n");
}

inline api::object_ptr make_free_volume(const std::string& name, const std::string& size,
                                        const std::string& spec = {}, const std::string& meta = {},
                                        const std::string& phase = "Available") {
  return parse<PersistentVolume>(
      "metadata: {name: " + name + meta +
      "}\nspec: {accessModes: [ReadWriteOnce], capacity: {storage: " + size +
      "}, hostPath: {path: /srv}" + spec + "}\nstatus: {phase: " + phase + "}\n");
}

inline api::object_ptr make_class(const std::string& name, const std::string& provisioner,
                                  const std::string& more = {}, const std::string& meta = {}) {
  return parse<StorageClass>("metadata: {name: " + name + meta + "}\nprovisioner: " + provisioner +
                             "\n" + more);
}

}  // namespace troupe::actors::volumes
