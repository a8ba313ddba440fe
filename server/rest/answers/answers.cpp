#include "server/rest/answers/answers.hpp"

#include <algorithm>
#include <utility>

#include "api/codec/codec.hpp"
#include "api/codec/envelope.hpp"
#include "api/codec/json_text.hpp"
#include "api/codec/wire.hpp"
#include "api/schema/meta_v1.pb.h"
#include "server/rest/answers/list_body.hpp"
#include "server/rest/answers/pretty.hpp"
#include "server/rest/answers/tables.hpp"
#include "server/rest/defaults.hpp"

namespace troupe::server {
namespace {

using api::meta::v1::PartialObjectMetadata;

response head(const response_format& form, int status) {
  response out;
  out.status = status;
  out.content_type = content_type_of(form, false);
  return out;
}

// Ends a JSON response with a line feed, or indents it if requested.
response finish(const response_format& form, response out) {
  if (form.media != api::media::json) return out;
  if (form.pretty)
    out.content = pretty_body(std::move(out.content));
  else
    out.content.add_static("\n");
  return out;
}

}  // namespace

api::expected<included> parse_included(const query_string& query) {
  const auto value = query.get_or("includeObject", "");
  if (value.empty() || value == "Metadata") return included::metadata;
  if (value == "Object") return included::object;
  if (value == "None") return included::nothing;
  return api::fail(api::bad_request("unrecognized includeObject value: \"" + value +
                                    "\": expected None, Metadata or Object"));
}

response object_answer(const response_format& form, int status, const api::object_ptr& object,
                       included rows) {
  if (form.as == shape::metadata)
    return message_answer(form, status, metadata_of(*object), meta_version(form),
                          "PartialObjectMetadata");
  auto out = head(form, status);
  if (form.as == shape::table) {
    list_page page{&object->kind(), {object}, object->revision(), {}, {}};
    out.content.add(table_json(page, {.v1 = form.v1, .rows = rows}));
  } else if (form.media == api::media::protobuf) {
    out.content.add(object->protobuf_text());
  } else if (form.media == api::media::json) {
    out.content.add(object->json_text());
  } else {
    out.content.add(
        api::encode_yaml(object->content(), object->kind().api_version(), object->kind().kind()));
  }
  return finish(form, std::move(out));
}

response list_answer(const response_format& form, list_page page, included rows) {
  auto out = head(form, 200);
  const auto list = std::make_shared<list_body>(form, std::move(page), rows);
  if (list->add(out.content, defaults::list_at_once))
    out.content.continue_with([list](body& to) { return list->add(to, defaults::list_part); });
  if (form.pretty && form.media == api::media::json)
    out.content = pretty_body(std::move(out.content));
  return out;
}

response message_answer(const response_format& form, int status, const api::body& content,
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

response error_answer(const response_format& form, const api::error& error) {
  response_format plain = form;
  plain.as = shape::object;
  auto out = message_answer(plain, error.code, api::to_status(error), "v1", "Status");
  if (error.retry_after_seconds != 0)
    out.fields.push_back({"retry-after", std::to_string(error.retry_after_seconds)});
  return out;
}

}  // namespace troupe::server
