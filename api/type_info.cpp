#include "api/type_info.hpp"

#include <memory>
#include <mutex>
#include <shared_mutex>

namespace troupe::api {

// Owns all type_infos. Types may refer to each other in cycles, so a type is registered before its
// fields are read.
class type_registry {
 public:
  static type_registry& instance() {
    static auto* registry = new type_registry;  // outlives every thread
    return *registry;
  }

  const type_info& of(const google::protobuf::Descriptor& type) {
    {
      std::shared_lock lock(mutex_);
      if (auto found = types_.find(&type); found != types_.end()) return *found->second;
    }
    std::unique_lock lock(mutex_);
    return add(type);
  }

 private:
  const type_info& add(const google::protobuf::Descriptor& type) {
    if (auto found = types_.find(&type); found != types_.end()) return *found->second;
    auto& made = *types_.emplace(&type, std::unique_ptr<type_info>(new type_info)).first->second;
    const auto& options = type.options();
    made.descriptor_ = &type;
    made.form_ = options.GetExtension(form);
    made.union_ = options.GetExtension(union_of_fields);
    made.about_ = &options.GetExtension(about);
    made.fields_.reserve(type.field_count());
    for (int i = 0; i < type.field_count(); ++i) {
      field_info info{type.field(i), &type.field(i)->options().GetExtension(rule), nullptr};
      if (const auto* below = info.value_field()->message_type()) info.type = &add(*below);
      made.fields_.push_back(info);
    }
    for (const auto& info : made.fields_)
      add_members(made, info);
    for (std::size_t i = 0; i < made.members_.size(); ++i)
      made.by_name_.emplace(made.members_[i].name(), i);
    return made;
  }

  static void add_members(type_info& into, const field_info& info) {
    if (!info.rule->inline_()) {
      into.members_.push_back({{}, &info});
      return;
    }
    for (const auto& inner : info.type->members_) {
      auto through = inner.through;
      through.insert(through.begin(), info.field);
      into.members_.push_back({std::move(through), inner.info});
    }
  }

  std::shared_mutex mutex_;
  std::unordered_map<const google::protobuf::Descriptor*, std::unique_ptr<type_info>> types_;
};

const type_info& type_info::of(const google::protobuf::Descriptor& type) {
  return type_registry::instance().of(type);
}

const member* type_info::find(std::string_view json_name) const {
  const auto found = by_name_.find(json_name);
  return found == by_name_.end() ? nullptr : &members_[found->second];
}

}  // namespace troupe::api
