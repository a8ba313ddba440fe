#pragma once

#include <memory>

namespace google::protobuf {
class Arena;
class Descriptor;
class FieldDescriptor;
class Message;
}  // namespace google::protobuf

namespace troupe::api {

using body = google::protobuf::Message;  // the typed content of an object

class kind_info;
class object;
class scheme;
class version_rules;
struct error;

using object_ptr = std::shared_ptr<const object>;
using version_rules_ptr = std::shared_ptr<const version_rules>;

namespace meta::v1 {
class ObjectMeta;
class OwnerReference;
class Status;
}  // namespace meta::v1

}  // namespace troupe::api
