#include "api/apply/merge_type.hpp"

#include <algorithm>

#include "api/schema/meta_object.pb.h"
#include "api/structural/schema_node.hpp"
#include "api/type_info.hpp"
#include "api/version_rules.hpp"

namespace troupe::api {

using merges = merge_type::merges;

namespace {

bool is_head(std::string_view name) {
  return name == "apiVersion" || name == "kind";
}

merges form_of(const field_info& field) {
  const auto& rule = *field.rule;
  if (field.field->is_map())
    return rule.has_list_type() && rule.list_type() == ATOMIC ? merges::atomic : merges::map;
  if (!field.field->is_repeated() || !rule.has_list_type()) return merges::atomic;
  return rule.list_type() == SET   ? merges::set
         : rule.list_type() == MAP ? merges::keyed_list
                                   : merges::atomic;
}

merges form_of(const schema_node& node) {
  if (node.type == schema_type::array)
    return node.list == schema_list::set   ? merges::set
           : node.list == schema_list::map ? merges::keyed_list
                                           : merges::atomic;
  if (node.type == schema_type::object) {
    if (node.atomic_map) return merges::atomic;
    if (node.values || node.values_of_any) return merges::map;
    return node.properties.empty() && node.keeps_unknown ? merges::deduced : merges::structure;
  }
  return node.keeps_unknown && !node.int_or_string && node.type == schema_type::any
             ? merges::deduced
             : merges::atomic;
}

}  // namespace

merge_type merge_type::of(const kind_info& kind) {
  merge_type made;
  if (!kind.custom()) {
    made.message_ = &type_info::of(kind.type());
    return made;
  }
  made.custom_root_ = true;
  if (kind.rules() != nullptr) made.whole_ = kind.rules()->schema();
  if (made.whole_ != nullptr) made.node_ = &made.whole_->root;
  return made;
}

merges merge_type::is() const {
  if (atomic_) return merges::atomic;
  if (custom_root_) return merges::structure;
  if (field_ != nullptr) return form_of(*field_);
  if (message_ != nullptr) {
    if (message_->form() != OBJECT || message_->descriptor().options().GetExtension(atomic))
      return merges::atomic;
    return merges::structure;
  }
  return node_ != nullptr ? form_of(*node_) : merges::deduced;
}

bool merge_type::declares(std::string_view name) const {
  if (custom_root_ && (is_head(name) || name == "metadata")) return true;
  if (message_ != nullptr && field_ == nullptr)
    return message_->find(name) != nullptr || is_head(name);
  return node_ != nullptr && node_->find(name) != nullptr;
}

bool merge_type::open() const {
  return message_ == nullptr;
}

merge_type merge_type::member(std::string_view name) const {
  merge_type made;
  const auto scalar = [&made] {
    made.atomic_ = true;
    return made;
  };
  if (custom_root_ && is_head(name)) return scalar();
  if (custom_root_ && name == "metadata") {
    made.message_ = &type_info::of(*meta::v1::ObjectMeta::descriptor());
    return made;
  }
  if (field_ != nullptr) {  // the value of a map
    if (field_->type == nullptr) return scalar();
    made.message_ = field_->type;
    return made;
  }
  if (message_ != nullptr) {
    const auto* found = message_->find(name);
    if (found == nullptr) return scalar();
    const auto& info = *found->info;
    if (info.field->is_repeated()) {
      made.field_ = &info;
      return made;
    }
    if (info.type == nullptr) return scalar();
    made.message_ = info.type;
    return made;
  }
  if (node_ == nullptr) return made;
  made.node_ = node_->find(name);
  if (made.node_ == nullptr) made.node_ = node_->values.get();
  return made;
}

merge_type merge_type::element() const {
  merge_type made;
  if (field_ != nullptr) {
    made.message_ = field_->type;
    made.atomic_ = field_->type == nullptr;
  } else if (node_ != nullptr) {
    made.node_ = node_->items.get();
  }
  return made;
}

std::vector<std::string> merge_type::keys() const {
  std::vector<std::string> all;
  if (field_ != nullptr)
    all.assign(field_->rule->list_map_keys().begin(), field_->rule->list_map_keys().end());
  else if (node_ != nullptr && node_->list_keys)
    all = *node_->list_keys;
  std::sort(all.begin(), all.end());
  return all;
}

std::string merge_type::key_default(std::string_view key) const {
  if (field_ != nullptr && field_->type != nullptr) {
    const auto* found = field_->type->find(key);
    return found == nullptr ? std::string{} : found->info->rule->default_json();
  }
  if (node_ != nullptr && node_->items) {
    const auto* found = node_->items->find(key);
    if (found != nullptr && found->fallback) return write_json(*found->fallback);
  }
  return {};
}

}  // namespace troupe::api
