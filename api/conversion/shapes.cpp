#include "api/conversion/shapes.hpp"

#include <google/protobuf/message.h>

#include "api/schema/meta_object.pb.h"
#include "api/scheme.hpp"

namespace troupe::api {

object_ptr shown_as(const kind_info& kind, const object_ptr& object) {
  const auto* shape = kind.row().shape;
  if (!object || shape == nullptr || &object->kind() == &kind) return object;
  auto shown = kind.make();
  meta_of(*shown) = object->meta();
  shape->show(object->content(), *shown);
  return std::make_shared<const api::object>(kind, std::move(shown), object->revision());
}

std::unique_ptr<body> taken_home(const kind_info& kind, std::unique_ptr<body> written,
                                 const body* was) {
  const auto* shape = kind.row().shape;
  if (shape == nullptr) return written;
  auto home = home_of(kind).make();
  if (was != nullptr) home->CopyFrom(*was);
  meta_of(*home) = meta_of(*written);
  shape->take(*written, *home);
  return home;
}

}  // namespace troupe::api
