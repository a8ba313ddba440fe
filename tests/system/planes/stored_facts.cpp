#include "system/planes/stored_facts.hpp"

#include <fmt/format.h>

#include <charconv>
#include <cstdint>

#include "api/object/object.hpp"
#include "api/schema/core_pod.pb.h"
#include "api/schema/core_service.pb.h"
#include "api/scheme.hpp"
#include "api/storage/upstream_form.hpp"

namespace troupe::test {

namespace {

using api::core::v1::Pod;
using api::core::v1::Service;

void append_utf8(std::string& to, std::uint32_t rune) {
  if (rune < 0x80) {
    to += static_cast<char>(rune);
    return;
  }
  const int more = rune < 0x800 ? 1 : rune < 0x10000 ? 2 : 3;
  constexpr std::uint32_t heads[] = {0, 0xC0, 0xE0, 0xF0};
  to += static_cast<char>(heads[more] | (rune >> (6 * more)));
  for (int left = more - 1; left >= 0; --left)
    to += static_cast<char>(0x80 | ((rune >> (6 * left)) & 0x3F));
}

// The object, or null.
template <class Kind>
api::object_ptr object_in(std::string_view value) {
  const auto& kind = api::kind_of<Kind>();
  const auto stored = api::from_upstream(&kind, value);
  if (!stored) return nullptr;
  auto object = api::object::from_storage(kind, *stored, 0);
  return object ? *object : nullptr;
}

std::string facts_of_pod(std::string_view value) {
  const auto object = object_in<Pod>(value);
  if (!object) return std::string{unreadable};
  const auto& pod = object->as<Pod>();
  return (pod.spec().node_name().empty() ? "-" : pod.spec().node_name()) +
         (pod.metadata().has_deletion_timestamp() ? " terminating" : "");
}

std::string facts_of_service(std::string_view value) {
  const auto object = object_in<Service>(value);
  if (!object) return std::string{unreadable};
  const auto& spec = object->as<Service>().spec();
  std::string facts;
  for (const auto& each : spec.cluster_ips())
    if (each != "None") facts += each + " ";
  for (const auto& each : spec.ports())
    if (each.node_port() != 0) facts += fmt::format("{}/{} ", each.node_port(), each.protocol());
  return facts;
}

}  // namespace

std::string unquoted(std::string_view text) {
  static constexpr std::string_view letters = "abfnrtv", controls = "\a\b\f\n\r\t\v";
  std::string bytes;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text[at] != '\\' || at + 1 == text.size()) {
      bytes += text[at];
      continue;
    }
    const auto kind = text[++at];
    const std::size_t digits = kind == 'x' ? 2 : kind == 'u' ? 4 : kind == 'U' ? 8 : 0;
    if (digits > 0) {
      const auto hex = text.substr(at + 1, digits);
      std::uint32_t number = 0;
      std::from_chars(hex.data(), hex.data() + hex.size(), number, 16);
      if (kind == 'x')
        bytes += static_cast<char>(number);
      else
        append_utf8(bytes, number);
      at += digits;
    } else {
      const auto control = letters.find(kind);
      bytes += control == letters.npos ? kind : controls[control];
    }
  }
  return bytes;
}

std::string facts_of(std::string_view key, std::string_view value) {
  if (key.starts_with("/registry/pods/")) return facts_of_pod(value);
  if (key.starts_with("/registry/services/specs/")) return facts_of_service(value);
  return {};
}

}  // namespace troupe::test
