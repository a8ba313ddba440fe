#include "api/codec/custom_json.hpp"

#include <algorithm>

#include "api/codec/envelope.hpp"
#include "api/codec/json_decode.hpp"
#include "api/codec/json_dom.hpp"
#include "api/codec/json_encode.hpp"
#include "api/codec/json_sax.hpp"
#include "api/codec/json_text.hpp"
#include "api/codec/json_writer.hpp"
#include "api/codec/type_plan.hpp"
#include "api/path.hpp"
#include "api/schema/meta_object.pb.h"

namespace troupe::api {
namespace {

using meta::v1::ObjectMeta;

// Splits a document into the fields of the schema and the rest, both as compact objects.
class splitter {
 public:
  explicit splitter(std::size_t depth_limit) : depth_limit_(depth_limit) {}

  bool scalar(scalar_kind kind, std::string_view text) {
    if (depth_ == 0) return false;
    out_->scalar(kind, text);
    return true;
  }
  bool key(std::string_view name) {
    if (depth_ == 1)
      out_ = name == "metadata" || name == "kind" || name == "apiVersion" ? &head_ : &rest_;
    out_->key(name);
    return true;
  }
  bool begin_object() {
    if (depth_ == 0) {
      head_.begin('{');
      rest_.begin('{');
    } else {
      out_->begin('{');
    }
    return ++depth_ <= depth_limit_;
  }
  bool end_object() {
    if (--depth_ == 0) {
      head_.end('}');
      rest_.end('}');
    } else {
      out_->end('}');
    }
    return true;
  }
  bool begin_array() {
    if (depth_ == 0) return false;
    out_->begin('[');
    return ++depth_ <= depth_limit_;
  }
  bool end_array() {
    out_->end(']');
    --depth_;
    return true;
  }

  bool too_deep() const noexcept { return depth_ > depth_limit_; }
  const std::string& head() const noexcept { return head_.text(); }
  const std::string& rest() const noexcept { return rest_.text(); }

 private:
  const std::size_t depth_limit_;
  std::size_t depth_ = 0;
  json_writer head_, rest_;
  json_writer* out_ = &head_;
};

tl::unexpected<std::string> wrong(std::string reason) {
  return tl::make_unexpected(std::move(reason));
}

constexpr std::string_view empty_object = "{}";

tl::expected<custom_document, std::string> read_parts(std::string_view json,
                                                      const decode_options& options) {
  std::string text(json);
  splitter parts(options.depth_limit);
  if (const auto error = parse_json(text, parts)) {
    if (parts.too_deep()) return wrong("json: exceeded max depth");
    if (error->stopped) return wrong("json: the document must be an object");
    return wrong("json: " + error->message + " (at byte " + std::to_string(error->offset) + ")");
  }
  auto head = json_to_wire(parts.head(), type_plan::of(*CustomBody::descriptor()), options);
  if (!head) return wrong(std::move(head.error()));
  custom_document out{std::make_unique<CustomBody>(), std::move(head->api_version),
                      std::move(head->kind), std::move(head->problems)};
  if (!out.content->ParseFromArray(head->wire.data(), static_cast<int>(head->wire.size())))
    return wrong("proto: malformed");
  if (parts.rest() != empty_object) out.content->set_rest(parts.rest());
  return out;
}

}  // namespace

tl::expected<custom_document, std::string> read_custom(std::string_view json,
                                                       const decode_options& options) {
  auto out = read_parts(json, options);
  if (!out || !out->content->has_rest()) return out;
  local_document local;
  auto& tree = *local;
  if (auto read = local.read(out->content->rest(), "the object"); !read)
    return wrong(std::move(read.error().message));
  if (options.fields != field_validation::ignore) {
    field_path at;
    find_repeated(tree, at, out->problems);
    std::stable_partition(out->problems.begin(), out->problems.end(), [](std::string_view problem) {
      return problem.starts_with("duplicate ");
    });
  }
  std::string rest;
  append_canonical_json(rest, tree);
  out->content->set_rest(std::move(rest));
  return out;
}

tl::expected<custom_document, std::string> read_written_custom(std::string_view json) {
  return read_parts(json, {});
}

void append_custom_json(std::string& out, const CustomBody& content, std::string_view api_version,
                        std::string_view kind) {
  out.reserve(out.size() + content.rest().size() + 512);
  out += '{';
  const auto member = [&](std::string_view name, std::string_view text) {
    if (text.empty()) return;
    append_json_string(out, name);
    out += ':';
    append_json_string(out, text);
    out += ',';
  };
  member("kind", kind);
  member("apiVersion", api_version);
  out += R"("metadata":)";
  std::string wire;
  append_wire(wire, content.metadata());
  append_json(out, type_plan::of(*ObjectMeta::descriptor()), wire, {}, {});
  if (content.rest().size() <= empty_object.size()) {
    out += '}';
  } else {
    out += ',';
    out.append(content.rest(), 1);
  }
}

}  // namespace troupe::api
