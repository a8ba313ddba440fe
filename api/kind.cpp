#include "api/kind.hpp"

#include <google/protobuf/message.h>

#include <algorithm>
#include <array>

namespace troupe::api {
namespace {

constexpr std::string_view registry = "/registry/";

std::string qualify(const std::string& name, const std::string& group) {
  return group.empty() ? name : name + "." + group;
}

}  // namespace

kind_info::kind_info(const Kind& options, const google::protobuf::Descriptor& type)
    : options_(options),
      type_(type),
      api_version_(options.group().empty() ? options.version()
                                           : options.group() + "/" + options.version()),
      qualified_plural_(qualify(options.plural(), options.group())),
      qualified_kind_(qualify(options.kind(), options.group())) {}

std::unique_ptr<body> kind_info::make() const {
  auto* prototype = google::protobuf::MessageFactory::generated_factory()->GetPrototype(&type_);
  return std::unique_ptr<body>(prototype->New());
}

std::string kind_info::key(std::string_view ns, std::string_view name) const {
  std::string out = prefix(ns);
  out += name;
  return out;
}

std::string kind_info::prefix(std::string_view ns) const {
  std::string out;
  out.reserve(registry.size() + plural().size() + ns.size() + 80);
  out += registry;
  out += plural();
  out += '/';
  if (namespaced() && !ns.empty()) {
    out += ns;
    out += '/';
  }
  return out;
}

bool kind_info::serves(std::string_view verb) const noexcept {
  const auto& given = options_.verbs();
  if (!given.empty()) return std::find(given.begin(), given.end(), verb) != given.end();
  static constexpr std::array<std::string_view, 8> all = {
      "create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"};
  return std::find(all.begin(), all.end(), verb) != all.end();
}

bool kind_info::stored() const noexcept {
  return options_.subresource().empty() && !plural().empty() && (serves("get") || serves("none"));
}

}  // namespace troupe::api
