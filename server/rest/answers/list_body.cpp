#include "server/rest/answers/list_body.hpp"

#include <algorithm>
#include <utility>

#include "api/codec/codec.hpp"
#include "api/codec/envelope.hpp"
#include "api/codec/json_text.hpp"
#include "api/codec/wire.hpp"
#include "api/tables/table.hpp"
#include "server/rest/answers/tables.hpp"

namespace troupe::server {

using api::meta::v1::PartialObjectMetadata;

namespace {

// Collects the parts of a list: shared texts unchanged, generated ones joined.
class list_output {
 public:
  explicit list_output(body& to) : to_{to} {}
  ~list_output() { flush(); }

  // For appending.
  std::string& text() { return text_; }
  void made(std::string_view part) { text_ += part; }
  // Without an owner the text must be static.
  void owned(std::string_view part, shared_text owner) {
    flush();
    owned_ += part.size();
    to_.add(part, std::move(owner));
  }
  // In bytes of texts that are cached for the next reader.
  std::size_t cost() const { return owned_ + made_text_cost * (made_ + text_.size()); }

 private:
  static constexpr std::size_t made_text_cost = 4;

  void flush() {
    made_ += text_.size();
    to_.add(text_);
    text_.clear();
  }

  body& to_;
  std::string text_;
  std::size_t owned_ = 0, made_ = 0;
};

void append_list_head(std::string& out, const list_page& page, std::string_view api_version,
                      std::string_view kind) {
  out += R"({"kind":")";
  out += kind;
  out += R"(","apiVersion":")";
  out += api_version;
  out += R"(","metadata":{"resourceVersion":")";
  out += std::to_string(page.revision);
  out += '"';
  if (!page.continue_token.empty()) {
    out += R"(,"continue":)";
    api::append_json_string(out, page.continue_token);
  }
  if (page.remaining) {
    out += R"(,"remainingItemCount":)";
    api::append_number(out, *page.remaining);
  }
  out += R"(},"items":[)";
}

api::meta::v1::ListMeta list_meta(const list_page& page) {
  api::meta::v1::ListMeta meta;
  meta.set_resource_version(std::to_string(page.revision));
  if (!page.continue_token.empty()) meta.set_continue_(page.continue_token);
  if (page.remaining) meta.set_remaining_item_count(*page.remaining);
  return meta;
}

// Puts `first` before the first line, and as many blanks before the others.
void append_indented(std::string& out, std::string_view first, std::string_view text) {
  std::string_view mark = first;
  const std::string blanks(first.size(), ' ');
  while (!text.empty()) {
    const auto end = std::min(text.find('\n'), text.size() - 1) + 1;
    if (end > 1) out += mark;
    out += text.substr(0, end);
    text.remove_prefix(end);
    mark = blanks;
  }
}

}  // namespace

std::string_view meta_version(const response_format& form) {
  return form.v1 ? "meta.k8s.io/v1" : "meta.k8s.io/v1beta1";
}

PartialObjectMetadata metadata_of(const api::object& object) {
  PartialObjectMetadata out;
  *out.mutable_metadata() = object.meta();
  return out;
}

class list_body::format {
 public:
  virtual ~format() = default;
  virtual void head(list_output& out, const list_page& page) = 0;
  virtual void item(list_output& out, const api::object_ptr& item, bool first) = 0;
  virtual void tail(list_output& out, const list_page& page) = 0;
};

namespace {

using format = list_body::format;

struct naming {
  std::string version;
  std::string kind;  // kind of an item
  std::string list_kind;
};

class json_list final : public format {
 public:
  explicit json_list(naming names, bool metadata) : names_{std::move(names)}, metadata_{metadata} {}

  void head(list_output& out, const list_page& page) override {
    std::string text;
    append_list_head(text, page, names_.version, names_.list_kind);
    out.made(text);
  }
  void item(list_output& out, const api::object_ptr& item, bool first) override {
    if (!first) out.owned(",", {});
    if (!metadata_) {
      auto text = item->json_text();
      const auto view = *text;
      return out.owned(view, std::move(text));
    }
    out.made(api::encode_json(metadata_of(*item), names_.version, names_.kind));
  }
  void tail(list_output& out, const list_page&) override { out.owned("]}", {}); }

 private:
  const naming names_;
  const bool metadata_;
};

class table_list final : public format {
 public:
  table_list(const list_page& page, const table_options& options)
      : options_{table_form(page, options)} {}

  void head(list_output& out, const list_page& page) override {
    std::string text;
    api::append_table_head(text, *page.kind, options_);
    out.made(text);
  }
  void item(list_output& out, const api::object_ptr& item, bool first) override {
    std::string text;
    if (!first) text += ',';
    api::append_table_row(text, *item, options_);
    out.made(text);
  }
  void tail(list_output& out, const list_page&) override { out.made("]}"); }

 private:
  const api::table_options options_;
};

// In the form of encode_yaml: block style, members sorted by name.
class yaml_list final : public format {
 public:
  yaml_list(naming names, bool metadata) : names_{std::move(names)}, metadata_{metadata} {}

  void head(list_output& out, const list_page& page) override {
    out.text() += "apiVersion: " + names_.version;
    out.text() += page.items.empty() ? "\nitems: []\n" : "\nitems:\n";
  }
  void item(list_output& out, const api::object_ptr& item, bool) override {
    append_indented(out.text(), "- ",
                    metadata_ ? api::encode_yaml(metadata_of(*item), names_.version, names_.kind)
                              : api::encode_yaml(item->content(), names_.version, names_.kind));
  }
  void tail(list_output& out, const list_page& page) override {
    out.text() += "kind: " + names_.list_kind + "\nmetadata:\n";
    append_indented(out.text(), "  ", api::encode_yaml(list_meta(page), {}, {}));
  }

 private:
  const naming names_;
  const bool metadata_;
};

// The envelope around metadata (field 1) and items (field 2), as in all lists of Kubernetes. Its
// head has the total size.
class protobuf_list final : public format {
 public:
  protobuf_list(naming names, bool metadata) : names_{std::move(names)}, metadata_{metadata} {}

  void head(list_output& out, const list_page& page) override {
    std::string meta_bytes, meta;
    api::append_wire(meta_bytes, list_meta(page));
    api::wire::append_bytes(meta, 1, meta_bytes);
    std::size_t size = meta.size();
    for (const auto& item : page.items) {
      const auto bytes = size_of(*item);
      size += 1 + api::wire::varint_size(bytes) + bytes;
    }
    api::append_envelope_head(out.text(), names_.version, names_.list_kind, size);
    out.text() += meta;
  }
  void item(list_output& out, const api::object_ptr& item, bool) override {
    const bool made = metadata_ || !item->stored().empty();
    auto bytes = made ? shared_text{bytes_of(*item)} : item->protobuf_text();
    const auto raw = made ? *bytes : raw_of(*bytes);
    api::wire::append_varint(out.text(), api::wire::tag(2, api::wire::type::bytes));
    api::wire::append_varint(out.text(), raw.size());
    if (made)
      out.text() += raw;
    else
      out.owned(raw, std::move(bytes));
  }
  void tail(list_output& out, const list_page&) override { api::append_envelope_tail(out.text()); }

 private:
  // Our own encoding: it is valid.
  static std::string_view raw_of(std::string_view protobuf) {
    const auto opened = api::open_envelope(protobuf);
    return opened ? opened->raw : std::string_view{};
  }
  std::string bytes_of(const api::object& item) const {
    if (!metadata_) return item.wire();
    std::string raw;
    api::append_wire(raw, metadata_of(item));
    return raw;
  }
  std::size_t size_of(const api::object& item) const {
    const bool made = metadata_ || !item.stored().empty();
    return made ? bytes_of(item).size() : raw_of(*item.protobuf_text()).size();
  }

  const naming names_;
  const bool metadata_;
};

std::unique_ptr<format> format_for(const response_format& form, const list_page& page,
                                   included rows) {
  if (form.as == shape::table)
    return std::make_unique<table_list>(page, table_options{.v1 = form.v1, .rows = rows});
  const bool metadata = form.as == shape::metadata;
  naming names{metadata ? std::string{meta_version(form)} : page.kind->api_version(),
               metadata ? "PartialObjectMetadata" : page.kind->kind(),
               metadata ? "PartialObjectMetadataList" : page.kind->list_kind()};
  if (form.media == api::media::yaml)
    return std::make_unique<yaml_list>(std::move(names), metadata);
  if (form.media == api::media::protobuf)
    return std::make_unique<protobuf_list>(std::move(names), metadata);
  return std::make_unique<json_list>(std::move(names), metadata);
}

}  // namespace

// The number of pieces of a list that is encoded in one part.
static constexpr std::size_t pieces_at_once = 4'096;

list_body::list_body(const response_format& form, list_page page, included rows)
    : form_{form}, page_{std::move(page)}, format_{format_for(form_, page_, rows)} {}

list_body::~list_body() = default;

bool list_body::add(body& to, std::size_t cost) {
  list_output out{to};
  if (!std::exchange(begun_, true)) {
    to.reserve(std::min(2 * page_.items.size() + 2, pieces_at_once));
    format_->head(out, page_);
  }
  for (; next_ < page_.items.size(); ++next_) {
    if (out.cost() >= cost) return true;
    format_->item(out, std::exchange(page_.items[next_], {}), next_ == 0);
  }
  format_->tail(out, page_);
  if (form_.media == api::media::json) out.owned("\n", {});
  return false;
}

}  // namespace troupe::server
