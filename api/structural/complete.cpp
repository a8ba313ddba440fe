#include "api/structural/complete.hpp"

#include "api/codec/codec.hpp"
#include "api/limits.hpp"
#include "api/schema/meta_object.pb.h"
#include "api/values/utf8.hpp"

namespace troupe::api {
namespace {

bool is_head(std::string_view name) {
  return name == "apiVersion" || name == "kind" || name == "metadata";
}

// Keeps the members for which `stays` returns true, in order. Returns whether one was removed.
template <class Stays>
bool keep_members(json_value& object, Stays stays) {
  auto end = object.MemberBegin();
  for (auto at = object.MemberBegin(); at != object.MemberEnd(); ++at) {
    if (!stays(*at)) continue;
    if (end != at) {
      end->name = at->name;
      end->value = at->value;
    }
    ++end;
  }
  if (end == object.MemberEnd()) return false;
  object.EraseMember(end, object.MemberEnd());
  return true;
}

// Completes embedded metadata like those of any object. Metadata that cannot be decoded is left for
// validation to refuse.
void complete_metadata(json_value& value, json_allocator& allocator) {
  meta::v1::ObjectMeta meta;
  if (!value.IsObject() || !decode_into(write_json(value), media::json, meta)) return;
  json_document read;
  if (!parse_json(read, encode_json(meta, {}, {}), "metadata")) return;
  strip_nulls(read);
  value.CopyFrom(read, allocator);
}

class pruner {
 public:
  pruner(json_allocator& allocator, std::vector<std::string>* unknown)
      : allocator_(allocator), unknown_(unknown) {}

  // With a null node all fields are unknown.
  void visit(json_value& value, const schema_node* node) {
    if (value.IsArray()) return visit_items(value, node);
    if (!value.IsObject()) return;
    const bool keeps = node != nullptr && node->keeps_unknown;
    const bool removed = keep_members(value, [&](json_value::Member& member) {
      const auto name = text_of(member.name);
      if (node != nullptr && node->embedded && is_head(name)) {
        if (name == "metadata") complete_metadata(member.value, allocator_);
        changed_ = changed_ || name == "metadata";
        return true;
      }
      const auto* known = node == nullptr ? nullptr : node->find(name);
      if (known == nullptr && node != nullptr) known = node->values.get();
      if (known == nullptr && !(node != nullptr && node->values_of_any)) {
        if (!keeps) note(name);
        return keeps;
      }
      const auto step = at_.field(shortened(name));
      visit(member.value, known);
      return true;
    });
    changed_ = changed_ || removed;
  }

  bool changed() const noexcept { return changed_; }

 private:
  void visit_items(json_value& value, const schema_node* node) {
    const bool keeps = node != nullptr && node->keeps_unknown;
    const auto* items = node == nullptr ? nullptr : node->items.get();
    if (keeps && items == nullptr) return;
    for (rapidjson::SizeType i = 0; i < value.Size(); ++i) {
      const auto step = at_.index(i);
      visit(value[i], items);
    }
  }

  static std::string_view shortened(std::string_view name) {
    return name.substr(0, utf8_prefix(name, limits::path_key_bytes));
  }

  void note(std::string_view name) {
    if (unknown_ == nullptr || unknown_->size() >= limits::document_problems) return;
    const auto step = at_.field(shortened(name));
    unknown_->push_back(at_.str());
  }

  json_allocator& allocator_;
  std::vector<std::string>* unknown_;
  field_path at_;
  bool changed_ = false;
};

// Sets defaults within a budget: a short object may need as many as it has
// elements.
class completer {
 public:
  explicit completer(json_allocator& allocator) : allocator_(allocator) {}

  void visit(json_value& value, const schema_node& node) {
    if (value.IsArray()) {
      if (!node.items) return;
      for (auto& element : value.GetArray())
        take(element, *node.items);
    } else if (value.IsObject()) {
      add_missing(value, node);
      const bool removed = keep_members(value, [&](json_value::Member& member) {
        const auto* known = node.find(text_of(member.name));
        if (known == nullptr) known = node.values.get();
        if (known == nullptr) return true;
        if (known->drops(member.value) && !known->fallback) return false;
        take(member.value, *known);
        return true;
      });
      changed_ = changed_ || removed;
    }
  }

  completion result() const {
    if (too_large_) return completion::too_large;
    return changed_ ? completion::changed : completion::unchanged;
  }

 private:
  bool spend(std::size_t bytes, std::size_t steps) {
    too_large_ = too_large_ || bytes > bytes_ || steps > steps_;
    if (too_large_) return false;
    bytes_ -= bytes;
    steps_ -= steps;
    return true;
  }

  // Handles a value that may be a null that is not allowed.
  void take(json_value& value, const schema_node& node) {
    if (node.drops(value) && node.fallback && spend(json_bytes(*node.fallback), 1)) {
      value.CopyFrom(*node.fallback, allocator_);
      changed_ = true;
    }
    if (!too_large_) visit(value, node);
  }

  // Adds absent members that have a default in the schema.
  void add_missing(json_value& object, const schema_node& node) {
    if (!node.sets_members || !spend(0, node.properties.size())) return;
    std::vector<const schema_property*> missing;
    {
      const member_index members{&object};
      for (const auto& each : node.properties)
        if (each.node->fallback && members.find(each.name) == nullptr) missing.push_back(&each);
    }
    for (const auto* each : missing) {
      if (!spend(each->name.size() + 4 + json_bytes(*each->node->fallback), 1)) return;
      json_value copy(*each->node->fallback, allocator_);
      object.AddMember(make_text(each->name, allocator_), copy, allocator_);
      changed_ = true;
    }
  }

  json_allocator& allocator_;
  std::size_t bytes_ = limits::document_bytes;
  std::size_t steps_ = limits::schema_steps;
  bool changed_ = false;
  bool too_large_ = false;
};

}  // namespace

bool prune(json_value& value, const schema_node& node, json_allocator& allocator,
           std::vector<std::string>* unknown) {
  pruner work(allocator, unknown);
  work.visit(value, &node);
  return work.changed();
}

completion set_defaults(json_value& value, const schema_node& node, json_allocator& allocator) {
  completer work(allocator);
  work.visit(value, node);
  return work.result();
}

}  // namespace troupe::api
