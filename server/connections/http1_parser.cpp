#include "server/connections/http1_parser.hpp"

#include <algorithm>
#include <boost/beast/http/basic_parser.hpp>
#include <boost/beast/http/error.hpp>
#include <optional>

#include "server/defaults.hpp"
#include "server/http/http.hpp"

namespace troupe::server {
namespace {

namespace beast = boost::beast::http;
using boost::beast::error_code;
using boost::beast::string_view;
using step = http1_parser::step;

std::string_view view(string_view text) {
  return {text.data(), text.size()};
}

bool equal_fold(std::string_view a, std::string_view lower) {
  if (a.size() != lower.size()) return false;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if ((a[i] | 0x20) != lower[i] && a[i] != lower[i]) return false;
  }
  return true;
}

// Stores Beast's results in a request. The result of a refusal is kept in `refused`, besides the
// error code that stops Beast.
class message final : public beast::basic_parser<true> {
 public:
  message(request& into, const http1_parser::limits& bounds) : into_{into}, bounds_{bounds} {
    header_limit(static_cast<std::uint32_t>(bounds.header_bytes));
    body_limit(boost::none);  // our own limit counts chunks as well
  }

  step refused = step::malformed;
  const char* reason_text = "malformed request";
  bool http10 = false;
  bool dropping = false;
  std::size_t body_bytes = 0;

  bool expects_continue() const {
    return !http10 && equal_fold(into_.headers.get("expect"), "100-continue");
  }

 private:
  void refuse(step cause, const char* reason, error_code& ec) {
    refused = cause;
    reason_text = reason;
    ec = beast::error::bad_value;
  }

  void on_request_impl(beast::verb, string_view method, string_view target, int version,
                       error_code& ec) override {
    into_.method_text = view(method);
    into_.method = server::parse_method(into_.method_text);
    http10 = version < 11;
    header_bytes_ = method.size() + target.size();
    if (!server::parse_target(view(target), into_))
      refuse(step::malformed, "the request target is not a path", ec);
  }

  void on_response_impl(int, string_view, int, error_code&) override {}

  void on_field_impl(beast::field, string_view name, string_view value, error_code& ec) override {
    if (is_header_done()) return;  // trailers are ignored
    header_bytes_ += name.size() + value.size() + 4;
    if (header_bytes_ > bounds_.header_bytes ||
        into_.headers.size() >= defaults::header_count_limit)
      return refuse(step::head_too_large, "too many or too large header fields", ec);
    into_.headers.add(view(name), view(value));
  }

  void on_header_impl(error_code& ec) override {
    const auto& headers = into_.headers;
    if (headers.has("transfer-encoding")) {
      if (!equal_fold(headers.joined("transfer-encoding"), "chunked"))
        return refuse(step::unsupported, "the transfer coding is not supported", ec);
      if (http10) return refuse(step::malformed, "HTTP/1.0 does not know transfer codings", ec);
    }
    if (headers.count("host") > 1 || (!http10 && !headers.has("host")))
      return refuse(step::malformed, "exactly one Host header field is required", ec);
    const auto length = content_length();
    // Beast accepts a repeated number (RFC 9110 8.6 leaves it to us).
    if (length && (headers.count("content-length") > 1 ||
                   headers.get("content-length").find(',') != std::string_view::npos))
      return refuse(step::malformed, "Content-Length says more than one number", ec);
    if (length && *length > bounds_.body_bytes) too_large(ec);
  }

  void on_body_init_impl(boost::optional<std::uint64_t> const& length, error_code&) override {
    if (length && keeps_body())
      into_.content.reserve(
          std::min(static_cast<std::size_t>(*length), defaults::body_reserve_bytes));
  }

  std::size_t on_body_impl(string_view part, error_code& ec) override { return take(part, ec); }
  void on_chunk_header_impl(std::uint64_t size, string_view, error_code& ec) override {
    if (size > bounds_.body_bytes) too_large(ec);
  }
  std::size_t on_chunk_body_impl(std::uint64_t, string_view part, error_code& ec) override {
    return take(part, ec);
  }
  void on_finish_impl(error_code&) override {}

  bool keeps_body() const {
    return !dropping && into_.method != http_method::get && into_.method != http_method::head;
  }

  void too_large(error_code& ec) { refuse(step::body_too_large, "the body is too large", ec); }

  std::size_t take(string_view part, error_code& ec) {
    body_bytes += part.size();
    if (body_bytes > bounds_.body_bytes) {
      too_large(ec);
    } else if (keeps_body()) {
      into_.content.append(part.data(), part.size());
    }
    return part.size();
  }

  request& into_;
  const http1_parser::limits& bounds_;
  std::size_t header_bytes_ = 0;
};

// A folded field (RFC 9112 5.2), which Beast joins, while other servers parse its second line as a
// separate field.
bool is_folded(std::string_view head) {
  for (auto end = head.find('\n'); end != head.npos && end + 1 < head.size();
       end = head.find('\n', end + 1))
    if (head[end + 1] == ' ' || head[end + 1] == '\t') return true;
  return false;
}

step refusal(const error_code& ec, message& parsing) {
  if (ec == beast::error::header_limit) return step::head_too_large;
  if (ec == beast::error::bad_version) {
    parsing.reason_text = "only HTTP/1.0 and HTTP/1.1 are spoken here";
    return step::bad_version;
  }
  return parsing.refused;
}

}  // namespace

struct http1_parser::impl {
  limits bounds;
  bool head_told = false;
  std::optional<message> parsing;
};

http1_parser::http1_parser() : impl_{std::make_unique<impl>()} {}
http1_parser::~http1_parser() = default;

void http1_parser::begin(request& into, const limits& bounds) {
  impl_->bounds = bounds;
  impl_->head_told = false;
  impl_->parsing.emplace(into, impl_->bounds);
}

http1_parser::result http1_parser::feed(std::string_view bytes) {
  auto& parsing = *impl_->parsing;
  std::size_t consumed = 0;
  for (;;) {
    if (parsing.is_header_done() && !impl_->head_told) {
      impl_->head_told = true;
      return {step::head, consumed};
    }
    if (parsing.is_done()) return {step::complete, consumed};
    if (consumed == bytes.size()) return {step::need_more, consumed};
    error_code ec;
    const auto rest = bytes.substr(consumed);
    const auto taken = parsing.put({rest.data(), rest.size()}, ec);
    if (!impl_->head_told && parsing.is_header_done() && is_folded(rest.substr(0, taken))) {
      parsing.refused = step::malformed;
      parsing.reason_text = "a header field goes on in a second line";
      return {step::malformed, consumed};
    }
    consumed += taken;
    if (ec == beast::error::need_more) {
      // The head of a chunk, or trailers, which Beast does not bound.
      if (bytes.size() - consumed > impl_->bounds.header_bytes)
        return {step::head_too_large, consumed};
      return {step::need_more, consumed};
    }
    if (ec) return {refusal(ec, parsing), consumed};
  }
}

const char* http1_parser::problem() const noexcept {
  return impl_->parsing->reason_text;
}
bool http1_parser::keep_alive() const noexcept {
  return impl_->parsing->keep_alive();
}
bool http1_parser::http10() const noexcept {
  return impl_->parsing->http10;
}
bool http1_parser::expects_continue() const noexcept {
  return impl_->parsing->expects_continue();
}

bool http1_parser::body_within(std::size_t bytes) const noexcept {
  const auto& parsing = *impl_->parsing;
  if (parsing.is_done()) return true;
  const auto length = parsing.content_length();
  return length && *length <= bytes;
}

std::size_t http1_parser::body_bytes() const noexcept {
  return impl_->parsing->body_bytes;
}

void http1_parser::drop_body() noexcept {
  impl_->parsing->dropping = true;
}

bool parse_target(std::string_view target, request& into) {
  if (target.find("://") != std::string_view::npos && !target.starts_with('/')) {
    const auto path = target.find('/', target.find("://") + 3);
    target = path == std::string_view::npos ? std::string_view("/") : target.substr(path);
  }
  if (target == "*" && into.method == http_method::options) {
    into.path = target;
    return true;
  }
  if (!target.starts_with('/')) return false;
  target = target.substr(0, target.find('#'));
  const auto question = target.find('?');
  into.empty_query = question + 1 == target.size();
  into.path = percent_decode(target.substr(0, question));
  into.query =
      query_string{question == std::string_view::npos ? std::string()
                                                      : std::string(target.substr(question + 1))};
  return into.path.find('\0') == std::string::npos;
}

}  // namespace troupe::server
