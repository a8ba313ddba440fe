#include "server/http/status.hpp"

#include "api/codec/document_writer.hpp"
#include "api/codec/encode_count.hpp"

namespace troupe::server {
namespace {

void member(api::document_writer& out, std::string_view name, std::string_view value) {
  if (!value.empty()) out.field(name, value);
}

void details(api::document_writer& out, const api::error& error) {
  // kubectl prints the message of an "Invalid" only if there are details, empty ones too.
  if (error.code != 422 && error.name.empty() && error.group.empty() && error.kind.empty() &&
      error.uid.empty() && error.causes.empty() && error.retry_after_seconds == 0)
    return;
  out.object("details", [&] {
    member(out, "name", error.name);
    member(out, "group", error.group);
    member(out, "kind", error.kind);
    member(out, "uid", error.uid);
    if (!error.causes.empty())
      out.list("causes", [&] {
        for (const auto& cause : error.causes)
          out.object([&] {
            member(out, "reason", cause.reason);
            member(out, "message", cause.message);
            member(out, "field", cause.field);
          });
      });
    if (error.retry_after_seconds != 0) out.number("retryAfterSeconds", error.retry_after_seconds);
  });
}

}  // namespace

response status_response(const api::error& error) {
  api::count_encoded_text();
  api::document_writer out;
  out.object([&] {
    member(out, "kind", "Status");
    member(out, "apiVersion", "v1");
    out.object("metadata", [] {});
    member(out, "status", "Failure");
    member(out, "message", error.message);
    member(out, "reason", error.reason);
    details(out, error);
    out.number("code", error.code);
  });

  response answer;
  answer.status = error.code;
  answer.content_type = "application/json";
  if (error.retry_after_seconds != 0)
    answer.fields.push_back({"retry-after", std::to_string(error.retry_after_seconds)});
  answer.content.add(out.take() + '\n');
  return answer;
}

response status_response(int code, std::string_view reason, std::string_view message) {
  api::error error;
  error.code = code;
  error.reason = reason;
  error.message = message;
  return status_response(error);
}

response plain_error(int code, std::string text) {
  response out;
  out.status = code;
  out.content_type = "text/plain; charset=utf-8";
  out.content = body{shared_text{std::move(text)}};
  return out;
}

std::string reason_of(const response& answer) {
  static constexpr std::string_view member = "\"reason\":\"";
  const auto text = answer.content.text();
  const auto at = text.rfind(member);
  if (at == std::string::npos) return {};
  const auto begin = at + member.size();
  return text.substr(begin, text.find('"', begin) - begin);
}

std::string_view reason_phrase(int code) noexcept {
  switch (code) {
    case 100:
      return "Continue";
    case 101:
      return "Switching Protocols";
    case 200:
      return "OK";
    case 201:
      return "Created";
    case 202:
      return "Accepted";
    case 204:
      return "No Content";
    case 301:
      return "Moved Permanently";
    case 302:
      return "Found";
    case 304:
      return "Not Modified";
    case 307:
      return "Temporary Redirect";
    case 308:
      return "Permanent Redirect";
    case 400:
      return "Bad Request";
    case 401:
      return "Unauthorized";
    case 403:
      return "Forbidden";
    case 404:
      return "Not Found";
    case 405:
      return "Method Not Allowed";
    case 406:
      return "Not Acceptable";
    case 408:
      return "Request Timeout";
    case 409:
      return "Conflict";
    case 410:
      return "Gone";
    case 411:
      return "Length Required";
    case 412:
      return "Precondition Failed";
    case 413:
      return "Request Entity Too Large";
    case 415:
      return "Unsupported Media Type";
    case 417:
      return "Expectation Failed";
    case 422:
      return "Unprocessable Entity";
    case 429:
      return "Too Many Requests";
    case 431:
      return "Request Header Fields Too Large";
    case 500:
      return "Internal Server Error";
    case 501:
      return "Not Implemented";
    case 503:
      return "Service Unavailable";
    case 504:
      return "Gateway Timeout";
    case 505:
      return "HTTP Version Not Supported";
    case 507:
      return "Insufficient Storage";
    default:
      return {};
  }
}

}  // namespace troupe::server
