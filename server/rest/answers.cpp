#include "server/rest/answers.hpp"

#include <algorithm>
#include <utility>

#include "api/codec.hpp"
#include "api/envelope.hpp"
#include "api/json_text.hpp"
#include "api/schema/meta_v1.pb.h"
#include "api/wire.hpp"
#include "server/rest/pretty.hpp"
#include "server/rest/tables.hpp"

namespace troupe::server {
namespace {

using api::meta::v1::PartialObjectMetadata;

std::string_view meta_version(const wanted_form& form) {
  return form.v1 ? "meta.k8s.io/v1" : "meta.k8s.io/v1beta1";
}

response head(const wanted_form& form, int status) {
  response out;
  out.status = status;
  out.content_type = content_type_of(form, false);
  return out;
}

// For people: the same document over many lines.
response finish(const wanted_form& form, response out) {
  if (form.media != api::media::json) return out;
  if (form.pretty) {
    out.content = body{pretty_json(out.content.text())};
  } else {
    out.content.add_static("\n");
  }
  return out;
}

PartialObjectMetadata metadata_of(const api::object& what) {
  PartialObjectMetadata out;
  *out.mutable_metadata() = what.meta();
  return out;
}

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

void add_json_items(body& out, const list_page& page) {
  out.reserve(2 * page.items.size() + 3);
  bool first = true;
  for (const auto& item : page.items) {
    if (!std::exchange(first, false)) out.add_static(",");
    out.add(std::string_view{item->json()}, item);
  }
  out.add_static("]}");
}

std::string list_meta_wire(const list_page& page) {
  api::meta::v1::ListMeta meta;
  meta.set_resource_version(std::to_string(page.revision));
  if (!page.continue_token.empty()) meta.set_continue_(page.continue_token);
  if (page.remaining) meta.set_remaining_item_count(*page.remaining);
  std::string out;
  api::append_wire(out, meta);
  return out;
}

struct wire_item {
  std::string head;  // tag and length
  std::string_view raw;
  std::shared_ptr<const void> owner;
};

// `first` goes before the first line, as many blanks before the others.
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

// The envelope around metadata (field 1) and items (field 2), as in every list of Kubernetes.
void add_wire_list(body& out, const list_page& page, std::string_view api_version,
                   std::string_view kind, std::vector<wire_item> items) {
  std::string meta;
  api::wire::append_bytes(meta, 1, list_meta_wire(page));
  std::size_t size = meta.size();
  for (auto& item : items) {
    api::wire::append_varint(item.head, api::wire::tag(2, api::wire::type::bytes));
    api::wire::append_varint(item.head, item.raw.size());
    size += item.head.size() + item.raw.size();
  }
  std::string text;
  api::append_envelope_head(text, api_version, kind, size);
  text += meta;
  out.reserve(2 * items.size() + 2);
  out.add(std::move(text));
  for (auto& item : items) {
    out.add(std::move(item.head));
    out.add(item.raw, std::move(item.owner));
  }
  std::string tail;
  api::append_envelope_tail(tail);
  out.add(std::move(tail));
}

std::vector<wire_item> object_items(const list_page& page) {
  std::vector<wire_item> items;
  items.reserve(page.items.size());
  for (const auto& item : page.items) {
    // Our own encoding: it can be opened.
    const auto opened = api::open_envelope(item->protobuf());
    if (opened) items.push_back({{}, opened->raw, item});
  }
  return items;
}

std::vector<wire_item> metadata_items(const list_page& page) {
  std::vector<wire_item> items;
  items.reserve(page.items.size());
  for (const auto& item : page.items) {
    auto raw = std::make_shared<std::string>();
    api::append_wire(*raw, metadata_of(*item));
    items.push_back({{}, *raw, raw});
  }
  return items;
}

std::string metadata_list_json(const wanted_form& form, const list_page& page) {
  std::string out;
  append_list_head(out, page, meta_version(form), "PartialObjectMetadataList");
  bool first = true;
  for (const auto& item : page.items) {
    if (!std::exchange(first, false)) out += ',';
    api::append_json(out, metadata_of(*item), meta_version(form), "PartialObjectMetadata");
  }
  out += "]}";
  return out;
}

// As encode_yaml would write it: block style, members in order of name.
std::string list_yaml(const wanted_form& form, const list_page& page) {
  const bool metadata = form.as == shape::metadata;
  const auto version = metadata ? meta_version(form) : std::string_view{page.kind->api_version()};
  const auto kind = metadata ? std::string{"PartialObjectMetadata"} : page.kind->kind();
  api::meta::v1::ListMeta meta;
  meta.set_resource_version(std::to_string(page.revision));
  if (!page.continue_token.empty()) meta.set_continue_(page.continue_token);
  if (page.remaining) meta.set_remaining_item_count(*page.remaining);

  std::string out = "apiVersion: " + std::string{version};
  out += page.items.empty() ? "\nitems: []\n" : "\nitems:\n";
  for (const auto& item : page.items)
    append_indented(out, "- ",
                    metadata ? api::encode_yaml(metadata_of(*item), version, kind)
                             : api::encode_yaml(item->content(), version, kind));
  out += "kind: " + kind + "List\nmetadata:\n";
  append_indented(out, "  ", api::encode_yaml(meta, {}, {}));
  return out;
}

void add_list(body& out, const wanted_form& form, const list_page& page) {
  const bool metadata = form.as == shape::metadata;
  const auto version = metadata ? meta_version(form) : std::string_view{page.kind->api_version()};
  const auto kind =
      metadata ? std::string{"PartialObjectMetadataList"} : page.kind->kind() + "List";
  if (form.media == api::media::yaml) {
    out.add(list_yaml(form, page));
  } else if (form.media == api::media::protobuf) {
    add_wire_list(out, page, version, kind, metadata ? metadata_items(page) : object_items(page));
  } else if (metadata) {
    out.add(metadata_list_json(form, page));
  } else {
    std::string text;
    append_list_head(text, page, version, kind);
    out.add(std::move(text));
    add_json_items(out, page);
  }
}

}  // namespace

api::expected<included> parse_included(const query_string& query) {
  const auto given = query.get_or("includeObject", "");
  if (given.empty() || given == "Metadata") return included::metadata;
  if (given == "Object") return included::object;
  if (given == "None") return included::nothing;
  return api::fail(api::bad_request("unrecognized includeObject value: \"" + given +
                                    "\": expected None, Metadata or Object"));
}

response object_answer(const wanted_form& form, int status, const api::object_ptr& what,
                       included rows) {
  if (form.as == shape::metadata)
    return message_answer(form, status, metadata_of(*what), meta_version(form),
                          "PartialObjectMetadata");
  auto out = head(form, status);
  if (form.as == shape::table) {
    list_page page{&what->kind(), {what}, what->revision(), {}, {}};
    out.content.add(table_json(page, {.v1 = form.v1, .rows = rows}));
  } else if (form.media == api::media::protobuf) {
    out.content.add(std::string_view{what->protobuf()}, what);
  } else if (form.media == api::media::json) {
    out.content.add(std::string_view{what->json()}, what);
  } else {
    out.content.add(
        api::encode_yaml(what->content(), what->kind().api_version(), what->kind().kind()));
  }
  return finish(form, std::move(out));
}

response list_answer(const wanted_form& form, const list_page& page, included rows) {
  auto out = head(form, 200);
  if (form.as == shape::table) {
    out.content.add(table_json(page, {.v1 = form.v1, .rows = rows}));
  } else {
    add_list(out.content, form, page);
  }
  return finish(form, std::move(out));
}

response message_answer(const wanted_form& form, int status, const api::body& content,
                        std::string_view api_version, std::string_view kind) {
  auto out = head(form, status);
  switch (form.media) {
    case api::media::json:
      out.content.add(api::encode_json(content, api_version, kind));
      break;
    case api::media::yaml:
      out.content.add(api::encode_yaml(content, api_version, kind));
      break;
    case api::media::protobuf:
      out.content.add(api::encode_protobuf(content, api_version, kind));
      break;
  }
  return finish(form, std::move(out));
}

response error_answer(const wanted_form& form, const api::error& what) {
  wanted_form plain = form;
  plain.as = shape::object;
  auto out = message_answer(plain, what.code, api::to_status(what), "v1", "Status");
  if (what.retry_after_seconds != 0)
    out.fields.push_back({"retry-after", std::to_string(what.retry_after_seconds)});
  return out;
}

response json_answer(int status, std::string content_type, shared_text text) {
  response out;
  out.status = status;
  out.content_type = std::move(content_type);
  out.content.add(std::move(text));
  return out;
}

}  // namespace troupe::server
