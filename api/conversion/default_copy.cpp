#include "api/conversion/default_copy.hpp"

#include <google/protobuf/message.h>

#include <vector>

#include "api/invariant.hpp"
#include "api/type_info.hpp"

namespace troupe::api {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Reflection;

void copy_scalar(const body& from, const FieldDescriptor* f, body& to, const FieldDescriptor* t) {
  const Reflection& in = *from.GetReflection();
  const Reflection& out = *to.GetReflection();
  switch (f->cpp_type()) {
    case FieldDescriptor::CPPTYPE_STRING:
      return out.SetString(&to, t, in.GetString(from, f));
    case FieldDescriptor::CPPTYPE_INT32:
      return out.SetInt32(&to, t, in.GetInt32(from, f));
    case FieldDescriptor::CPPTYPE_INT64:
      return out.SetInt64(&to, t, in.GetInt64(from, f));
    case FieldDescriptor::CPPTYPE_BOOL:
      return out.SetBool(&to, t, in.GetBool(from, f));
    case FieldDescriptor::CPPTYPE_DOUBLE:
      return out.SetDouble(&to, t, in.GetDouble(from, f));
    default:
      ensure(false, "the schema uses only the types that Kubernetes uses");
  }
}

bool copy_list(const body& from, const FieldDescriptor* f, body& to, const FieldDescriptor* t) {
  const Reflection& in = *from.GetReflection();
  const Reflection& out = *to.GetReflection();
  bool all = true;
  for (int i = 0; i < in.FieldSize(from, f); ++i) {
    switch (f->cpp_type()) {
      case FieldDescriptor::CPPTYPE_MESSAGE:
        all &= default_copy(in.GetRepeatedMessage(from, f, i), *out.AddMessage(&to, t));
        break;
      case FieldDescriptor::CPPTYPE_STRING:
        out.AddString(&to, t, in.GetRepeatedString(from, f, i));
        break;
      case FieldDescriptor::CPPTYPE_INT32:
        out.AddInt32(&to, t, in.GetRepeatedInt32(from, f, i));
        break;
      case FieldDescriptor::CPPTYPE_INT64:
        out.AddInt64(&to, t, in.GetRepeatedInt64(from, f, i));
        break;
      default:
        ensure(false, "lists of the schema hold texts, numbers or messages");
    }
  }
  return all;
}

bool same_sort(const FieldDescriptor& f, const FieldDescriptor& t) {
  return f.cpp_type() == t.cpp_type() && f.is_repeated() == t.is_repeated() &&
         f.is_map() == t.is_map();
}

}  // namespace

bool default_copy(const body& from, body& to) {
  if (from.GetDescriptor() == to.GetDescriptor()) {
    to.CopyFrom(from);
    return true;
  }
  const type_info& target = type_info::of(*to.GetDescriptor());
  std::vector<const FieldDescriptor*> set;
  const Reflection& in = *from.GetReflection();
  in.ListFields(from, &set);
  bool all = true;
  for (const FieldDescriptor* f : set) {
    const member* found = target.find(f->json_name());
    if (found == nullptr || !found->through.empty() || !same_sort(*f, *found->info->field)) {
      all = false;
      continue;
    }
    const FieldDescriptor* t = found->info->field;
    if (f->is_repeated())
      all &= copy_list(from, f, to, t);
    else if (f->cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE)
      all &= default_copy(in.GetMessage(from, f), *to.GetReflection()->MutableMessage(&to, t));
    else
      copy_scalar(from, f, to, t);
  }
  return all;
}

}  // namespace troupe::api
