// Objects for tests, from YAML text and from the real manifests beside the project's folder.
#pragma once

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include "api/codec/codec.hpp"
#include "api/object/object.hpp"
#include "api/scheme.hpp"
#include "api/strategy/defaults.hpp"
#include "api/strategy/strategy.hpp"
#include "build_paths.hpp"
#include "support/skip.hpp"

namespace troupe::test {

inline api::decoded object_from(std::string_view yaml) {
  auto made = api::decode(yaml, api::media::yaml, nullptr);
  INFO((made ? std::string() : made.error().message));
  REQUIRE(made);
  return std::move(*made);
}

template <class T>
T from_yaml(std::string_view yaml) {
  auto made = object_from(yaml);
  REQUIRE(made.content->GetDescriptor() == T::descriptor());
  return static_cast<const T&>(*made.content);
}

// Completed as the server does before it validates: defaults, a namespace, identity.
template <class T>
T created(std::string_view yaml) {
  auto object = from_yaml<T>(yaml);
  const auto& kind = api::kind_of<T>();
  const api::random_bits random = [] { return 7; };
  REQUIRE(api::settle_namespace(kind, object, "default"));
  api::set_defaults(kind, object);
  api::prepare_create(kind, object, {"u-1", 1'400'000'000, random});
  return object;
}

// The text of a manifest from the folder beside the project's; empty if there is no such folder.
inline std::string shared_manifest(const std::string& name) {
  const auto path = std::filesystem::path(TROUPE_SOURCE_DIR) / "../shared/data/today" / name;
  std::ifstream in(path);
  if (!in) {
    troupe::test::skip(path.string() + " does not exist");
    return {};
  }
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

}  // namespace troupe::test
