#include "api/patch/patch.hpp"

#include <google/protobuf/descriptor.h>

#include <algorithm>
#include <array>
#include <unordered_set>
#include <utility>

#include "api/codec/json_text.hpp"
#include "api/limits.hpp"
#include "api/patch/patch_types.hpp"
#include "api/path.hpp"
#include "api/schema/custom.pb.h"
#include "api/values/utf8.hpp"

namespace troupe::api {
namespace {

// Members of the operations of a JSON patch that are unknown, or do not count.
void find_problems(const json_value& operations, std::vector<std::string>& out) {
  static constexpr std::array<std::string_view, 4> known{"op", "path", "from", "value"};
  std::vector<std::string> found;
  const auto add = [&found](std::string_view problem, const field_path& at) {
    auto line = std::string{problem} + " field " + quoted(at.str());
    if (found.size() < limits::document_problems) found.push_back(std::move(line));
  };
  field_path at;
  for (rapidjson::SizeType i = 0; i < operations.Size(); ++i) {
    if (!operations[i].IsObject()) continue;
    const auto step = at.index(i);
    std::unordered_set<std::string_view> seen;
    for (const auto& each : operations[i].GetObject()) {
      if (found.size() >= limits::document_problems) break;
      const auto name = text_of(each.name);
      const auto inner = at.field(name.substr(0, utf8_prefix(name, limits::path_key_bytes)));
      const bool repeated = !seen.insert(name).second;
      if (std::find(known.begin(), known.end(), name) != known.end()) {
        if (repeated) add("duplicate", at);
        find_repeated(each.value, at, found);
      } else if (!repeated) {
        add("unknown", at);
      }
    }
  }
  for (const auto& problem : found)
    out.push_back("json patch " + problem);
}

}  // namespace

// Without causes, as upstream: kubectl prints them instead of the message, each after its field.
error patch_does_not_fit(const std::string& reason) {
  error e;
  e.code = 422;
  e.reason = "Invalid";
  e.message = "the server rejected our request due to an error in our request: " + reason;
  return e;
}

std::optional<patch_form> patch_form_of(std::string_view content_type) {
  content_type = content_type.substr(0, content_type.find(';'));
  while (content_type.ends_with(' '))
    content_type.remove_suffix(1);
  if (content_type == "application/json-patch+json") return patch_form::json;
  if (content_type == "application/merge-patch+json") return patch_form::merge;
  if (content_type == "application/strategic-merge-patch+json") return patch_form::strategic;
  return std::nullopt;
}

expected<std::string> apply_patch(patch_form form, const google::protobuf::Descriptor& type,
                                  std::string_view document, std::string_view patch,
                                  std::vector<std::string>* problems) {
  if (form == patch_form::strategic && &type == CustomBody::descriptor())
    return fail(unsupported_media_type("application/strategic-merge-patch+json",
                                       "application/json-patch+json, application/merge-patch+json, "
                                       "application/apply-patch+yaml"));
  json_document target;
  // The patch's values move into the document: both use one allocator.
  json_document change(&target.GetAllocator());
  if (auto read = parse_json(target, document, "the object"); !read)
    return fail(std::move(read.error()));
  if (auto read = parse_json(change, patch, "patch"); !read) return fail(std::move(read.error()));

  if (form == patch_form::json) {
    if (problems != nullptr && change.IsArray() && change.Size() <= limits::json_patch_operations)
      find_problems(change, *problems);
    if (auto done = apply_json_patch(target, change); !done) return fail(std::move(done.error()));
    return write_json(target);
  }
  if (!change.IsObject()) return fail(bad_request("error decoding patch: it must be an object"));
  if (problems != nullptr) {
    field_path at;
    find_repeated(change, at, *problems);
  }
  if (form == patch_form::merge) {
    apply_merge_patch(target, change, target.GetAllocator());
    return write_json(target);
  }
  auto done = apply_strategic_patch(type_info::of(type), target, change, target.GetAllocator());
  if (!done) return fail(std::move(done.error()));
  return write_json(target);
}

}  // namespace troupe::api
