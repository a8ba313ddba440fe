// RFC 7386: members of the patch replace members of the document, null removes them, objects merge.
#include "api/patch/patch_types.hpp"

namespace troupe::api {

void apply_merge_patch(json_value& document, json_value& patch, json_allocator& allocator) {
  if (!patch.IsObject()) {
    document = patch;
    return;
  }
  if (!document.IsObject()) document.SetObject();
  json_members members(document);
  for (auto& change : patch.GetObject()) {
    const auto name = text_of(change.name);
    if (change.value.IsNull()) {
      members.erase(name);
    } else if (!change.value.IsObject()) {
      members.set(name, std::move(change.value), allocator);
    } else if (auto* old = members.find(name)) {
      apply_merge_patch(*old, change.value, allocator);
    } else {
      json_value fresh(rapidjson::kObjectType);
      apply_merge_patch(fresh, change.value, allocator);
      members.set(name, std::move(fresh), allocator);
    }
  }
  members.finish(allocator);
}

}  // namespace troupe::api
