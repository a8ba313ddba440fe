#include "server/legacy/shapes.hpp"

#include <fmt/format.h>
#include <google/protobuf/message.h>

#include <algorithm>

#include "api/codec/codec.hpp"
#include "api/conversion/conversion.hpp"
#include "api/v1beta1/objects.pb.h"
#include "api/v1beta1/v1beta1.hpp"
#include "api/values/ascii.hpp"
#include "server/legacy/defaults.hpp"

namespace troupe::server::legacy {
namespace {

using api::v1beta1::Status;

constexpr std::string_view version = "v1beta1";

std::unique_ptr<api::body> shown(const api::object& content, const api::kind_info& shape) {
  auto made = api::v1beta1::from_hub(content.content(), shape);
  auto& meta = api::v1beta1::type_meta(*made);
  meta.set_self_link(self_link(shape, meta.id()));
  return made;
}

// Converts "NotFound" to "not_found".
std::string snake(std::string_view word) {
  std::string out;
  for (const char c : word) {
    const bool capital = c >= 'A' && c <= 'Z';
    if (capital && !out.empty()) out += '_';
    out += api::to_lower(c);
  }
  return out;
}

std::string lower_first(std::string word) {
  if (!word.empty()) word[0] = api::to_lower(word[0]);
  return word;
}

std::string state_word(std::string_view word, dialect words) {
  return words == dialect::v0_2 ? snake(word) : std::string(word);
}

std::string status_json(const Status& status) {
  return api::encode_json(status, version, "Status");
}

}  // namespace

std::string self_link(const api::kind_info& shape, std::string_view id) {
  return fmt::format("{}/{}{}{}", defaults::prefix, shape.plural(), id.empty() ? "" : "/", id);
}

std::string object_json(const api::object& content, const api::kind_info& shape) {
  return api::encode_json(*shown(content, shape), version, shape.kind());
}

std::string list_json(const std::vector<api::object_ptr>& items, const api::kind_info& shape,
                      std::uint64_t revision) {
  std::string texts;
  for (const auto& each : items) {
    if (!texts.empty()) texts += ',';
    texts += api::encode_json(*shown(*each, shape), {}, {});
  }
  auto out = fmt::format(
      R"({{"kind":"{}List","creationTimestamp":null,"selfLink":"{}","resourceVersion":{},"apiVersion":"{}",)",
      shape.kind(), self_link(shape, {}), revision, version);
  if (shape.kind() == "Minion") out += R"("minions":[)" + texts + "],";
  return out + R"("items":[)" + texts + "]}";
}

std::string event_json(std::string_view type, std::string_view object) {
  return fmt::format(R"({{"type":"{}","object":{}}})"
                     "\n",
                     type, object);
}

api::error to_legacy_error(api::error error, const api::kind_info& shape, std::string_view id) {
  const auto* hub = api::conversions::instance().hub(shape);
  const bool named = error.name == id || error.name == api::v1beta1::name_of(id);
  if (hub == nullptr || !named || (error.kind != hub->plural() && error.kind != hub->kind()))
    return error;
  const auto& kind = shape.options().singular();
  const auto subject = fmt::format("{} \"{}\"", kind, id);
  for (const auto& word : {hub->qualified_plural(), hub->qualified_kind()}) {
    const auto today = fmt::format("{} \"{}\"", word, error.name);
    const auto at = error.message.find(today);
    if (at == std::string::npos) continue;
    // Today's conflict message begins differently.
    const bool conflict = error.reason == "Conflict";
    error.message =
        subject + (conflict ? " cannot be updated" : "") + error.message.substr(at + today.size());
    break;
  }
  error.kind = kind;
  error.name = id;
  return error;
}

std::string failure_json(const api::error& error, dialect words) {
  const bool old = words == dialect::v0_2;
  Status status;
  status.set_status(state_word("Failure", words));
  status.set_message(error.message);
  if (!error.reason.empty()) status.set_reason(old ? snake(error.reason) : error.reason);
  status.set_code(error.code);
  if (!error.name.empty() || !error.kind.empty() || !error.causes.empty()) {
    auto& details = *status.mutable_details();
    if (!error.name.empty()) details.set_id(error.name);
    if (!error.kind.empty()) details.set_kind(error.kind);
    for (const auto& each : error.causes) {
      auto& cause = *details.add_causes();
      cause.set_reason(old ? lower_first(each.reason) : each.reason);
      cause.set_message(each.message);
      if (!each.field.empty()) cause.set_field(each.field);
    }
  }
  return status_json(status);
}

std::string success_json(dialect words) {
  Status status;
  status.set_status(state_word("Success", words));
  return status_json(status);
}

std::string working_json(std::uint64_t operation, dialect words) {
  Status status;
  status.set_status(state_word("Working", words));
  status.set_reason(state_word("Working", words));
  status.mutable_details()->set_id(std::to_string(operation));
  status.mutable_details()->set_kind("operation");
  return status_json(status);
}

std::string operations_json(const std::vector<std::uint64_t>& ids) {
  std::vector<std::string> texts;
  for (const auto id : ids)
    texts.push_back(std::to_string(id));
  std::sort(texts.begin(), texts.end());
  api::v1beta1::ServerOpList list;
  for (auto& each : texts)
    list.add_items()->mutable_meta()->set_id(std::move(each));
  return api::encode_json(list, version, "ServerOpList");
}

response json_response(int status, std::string text) {
  response out;
  out.status = status;
  out.content_type = "application/json";
  out.content.add(std::move(text));
  return out;
}

response text_response(int status, std::string text) {
  response out;
  out.status = status;
  out.content_type = "text/plain; charset=utf-8";
  out.content.add(std::move(text));
  return out;
}

}  // namespace troupe::server::legacy
