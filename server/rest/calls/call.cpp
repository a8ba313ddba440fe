#include "server/rest/calls/call.hpp"

#include <algorithm>

#include "api/conversion/shapes.hpp"
#include "api/schema/meta_request.pb.h"
#include "server/http/compression.hpp"
#include "server/rest/requests/audit.hpp"

namespace troupe::server {
namespace {

// RFC 7234 5.5 in upstream's form: 299 - "text".
std::string warning_header(std::string_view text) {
  std::string out = "299 - \"";
  for (const char c : text) {
    if (static_cast<unsigned char>(c) < ' ' || c == 0x7f) continue;
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out + '"';
}

// kubernetes: apiserver/pkg/endpoints/filters/warning.go bounds the sum of all warnings.
constexpr std::size_t warnings_limit_bytes = 4096;

}  // namespace

persistence::change_cause call::cause() const {
  return {request->id, 0, request->user ? request->user->name : std::string{}};
}

void call::warn(const std::vector<std::string>& texts) {
  for (const auto& text : texts)
    if (std::find(warnings_.begin(), warnings_.end(), text) == warnings_.end())
      warnings_.push_back(text);
}

void call::note(const actors::admission::remarks& remarks) {
  warn(remarks.warnings);
  annotations_.insert(remarks.annotations.begin(), remarks.annotations.end());
}

void call::answer(response with) {
  std::size_t size = 0;
  for (const auto& text : warnings_) {
    auto line = warning_header(text);
    size += line.size();
    if (size > warnings_limit_bytes) break;
    with.fields.push_back({"warning", std::move(line)});
  }
  record(with.status);
  if (request->method == http_method::get && takes_gzip(request->headers.joined("accept-encoding")))
    compress(with);
  to_.respond(std::move(with));
}

void call::answer(int status, const api::object_ptr& object) {
  answer(object_answer(form, status, api::convert_from_home(kind(), object), rows));
}

void call::succeed(int status, const api::object_ptr& about) {
  api::meta::v1::Status out;
  out.mutable_metadata();
  out.set_status("Success");
  if (about) {
    auto& details = *out.mutable_details();
    details.set_name(about->meta().name());
    if (!kind().group().empty()) details.set_group(kind().group());
    details.set_kind(kind().plural());
    details.set_uid(about->meta().uid());
  } else {
    out.set_code(status);
  }
  response_format plain = form;
  plain.as = shape::object;
  answer(message_answer(plain, status, out, "v1", "Status"));
}

void call::fail(const api::error& error) {
  answer(error_answer(form, error));
}

responder call::take_over(int status) {
  record(status);
  return std::move(to_);
}

void call::record(int status) const {
  const request_record record{
      *request,     route, verb, status, std::chrono::steady_clock::now() - request->received,
      &annotations_};
  audit(record);
  if (services.options.observe) services.options.observe(record);
}

}  // namespace troupe::server
