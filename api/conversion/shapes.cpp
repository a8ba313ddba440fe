#include "api/conversion/shapes.hpp"

#include <google/protobuf/message.h>

#include "api/object/custom_body.hpp"
#include "api/schema/meta_object.pb.h"
#include "api/scheme.hpp"
#include "api/version_rules.hpp"

namespace troupe::api {

namespace {

// The object as `kind`: itself if it is of that kind and was written under its current rules.
object_ptr shown_custom(const kind_info& kind, const object_ptr& object) {
  const auto& from = object->kind();
  // Such as a Scale or a Status.
  if (!from.custom() || from.qualified_plural() != kind.qualified_plural()) return object;
  const bool old = object->revision() < kind.rules()->since();
  if (&from == &kind && !old) return object;
  auto content = object->copy();
  if (old || from.version() != kind.version()) kind.rules()->complete_stored(as_custom(*content));
  return std::make_shared<const api::object>(kind, std::move(content), object->revision());
}

}  // namespace

bool is_converted_on_read(const kind_info& kind) {
  return kind.row().shape != nullptr || kind.rules() != nullptr;
}

object_ptr convert_from_home(const kind_info& kind, const object_ptr& object) {
  if (object && kind.rules() != nullptr) return shown_custom(kind, object);
  const auto* shape = kind.row().shape;
  if (!object || shape == nullptr || &object->kind() == &kind) return object;
  auto shown = kind.make();
  meta_of(*shown) = object->meta();
  shape->show(object->content(), *shown);
  return std::make_shared<const api::object>(kind, std::move(shown), object->revision());
}

std::unique_ptr<body> convert_to_home(const kind_info& kind, std::unique_ptr<body> written,
                                      const body* was) {
  if (kind.rules() != nullptr) {
    const auto& home = home_of(kind);
    if (&home != &kind) home.rules()->complete_stored(as_custom(*written));
    return written;
  }
  const auto* shape = kind.row().shape;
  if (shape == nullptr) return written;
  auto home = home_of(kind).make();
  if (was != nullptr) home->CopyFrom(*was);
  meta_of(*home) = meta_of(*written);
  shape->take(*written, *home);
  return home;
}

}  // namespace troupe::api
