// The attributes of a write for admission: user, operation, object, and the state to judge by.
// kubernetes: apiserver/pkg/admission, Attributes.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "actors/write/admission/remarks.hpp"
#include "api/error.hpp"
#include "api/kind.hpp"
#include "persistence/tree/snapshot.hpp"

namespace troupe::actors::admission {

enum class operation : std::uint8_t { create, update, remove, connect };
inline constexpr std::size_t operations = 4;
// "CREATE", "UPDATE", "DELETE", "CONNECT".
std::string_view to_string(operation op) noexcept;

// Views of strings that must stay valid as long as the write.
struct user {
  std::string_view name = {};
  std::string_view uid = {};
  std::span<const std::string> groups = {};
};
// The user of our own controllers (kubernetes: kube-controller-manager).
const user& controllers();

// Views; valid as long as the write.
struct attributes {
  const persistence::snapshot& state;
  const api::kind_info& kind;
  operation op;
  // "status", "scale", "binding" ...; empty: the object itself.
  std::string_view subresource;
  const user& by;
  bool dry_run = false;
  // The object before the write; null for a create.
  const api::body* before = nullptr;
  // The object after the write; null for a delete.
  const api::body* now = nullptr;
  // Collects warnings and audit annotations; null: they are dropped.
  admission::remarks* remarks = nullptr;

  void warn(std::string text) const;
  void annotate(std::string key, std::string text) const;

  const api::meta::v1::ObjectMeta& meta() const;
  const std::string& ns() const;
  // For messages: generateName if the name is not generated yet.
  const std::string& name() const;
};

// 403 in upstream's wording: `pods "web" is forbidden: <reason>`.
api::error forbidden(const attributes& of, std::string_view reason);

}  // namespace troupe::actors::admission
