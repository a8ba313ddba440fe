#include "actors/write/admission/attributes.hpp"

#include <utility>

#include "api/object/object.hpp"
#include "api/schema/meta_object.pb.h"

namespace troupe::actors::admission {

std::string_view to_string(operation op) noexcept {
  static constexpr std::string_view words[operations] = {"CREATE", "UPDATE", "DELETE", "CONNECT"};
  return words[static_cast<std::size_t>(op)];
}

const user& controllers() {
  static const std::string groups[] = {"system:authenticated"};
  static const user known{"system:kube-controller-manager", {}, groups};
  return known;
}

const api::meta::v1::ObjectMeta& attributes::meta() const {
  return api::meta_of(now != nullptr ? *now : *before);
}

const std::string& attributes::ns() const {
  return meta().namespace_();
}

const std::string& attributes::name() const {
  const auto& from = meta();
  return from.name().empty() ? from.generate_name() : from.name();
}

void attributes::warn(std::string text) const {
  if (remarks != nullptr) remarks->warnings.push_back(std::move(text));
}

void attributes::annotate(std::string key, std::string text) const {
  if (remarks != nullptr) remarks->annotations.insert_or_assign(std::move(key), std::move(text));
}

api::error forbidden(const attributes& of, std::string_view reason) {
  return api::forbidden(of.kind, of.name(), reason);
}

}  // namespace troupe::actors::admission
