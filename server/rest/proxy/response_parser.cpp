#include "server/rest/proxy/response_parser.hpp"

#include <boost/beast/http/basic_parser.hpp>
#include <boost/beast/http/error.hpp>

#include "api/values/ascii.hpp"
#include "server/defaults.hpp"
#include "server/rest/proxy/defaults.hpp"

namespace troupe::server {
namespace {

namespace beast = boost::beast::http;
using boost::beast::error_code;
using boost::beast::string_view;

std::string_view view(string_view text) {
  return {text.data(), text.size()};
}

// Stores Beast's results.
class message final : public beast::basic_parser<false> {
 public:
  explicit message(bool to_head) {
    header_limit(static_cast<std::uint32_t>(defaults::header_limit_bytes));
    body_limit(boost::none);  // it is passed on in parts
    skip(to_head);
  }

  backend_head head;
  std::string body;

 private:
  void on_request_impl(beast::verb, string_view, string_view, int, error_code&) override {}
  void on_response_impl(int status, string_view, int, error_code&) override {
    head.status = status;
  }

  void on_field_impl(beast::field, string_view name, string_view value, error_code& ec) override {
    if (is_header_done()) return;  // trailers are not passed on
    size_ += name.size() + value.size() + 4;
    if (size_ > defaults::header_limit_bytes || head.fields.size() >= defaults::header_count_limit)
      ec = beast::error::header_limit;
    else
      head.fields.emplace_back(api::to_lower(view(name)), view(value));
  }

  void on_header_impl(error_code& ec) override {
    for (const auto& [name, value] : head.fields)
      if (name == "transfer-encoding" && api::to_lower(value) != "chunked")
        ec = beast::error::bad_transfer_encoding;
  }

  void on_body_init_impl(const boost::optional<std::uint64_t>&, error_code&) override {}
  std::size_t on_body_impl(string_view part, error_code&) override { return keep(part); }
  void on_chunk_header_impl(std::uint64_t, string_view, error_code&) override {}
  std::size_t on_chunk_body_impl(std::uint64_t, string_view part, error_code&) override {
    return keep(part);
  }
  void on_finish_impl(error_code&) override {}

  std::size_t keep(string_view part) {
    body.append(part.data(), part.size());
    return part.size();
  }

  std::size_t size_ = 0;
};

bool is_interim(int status) {
  return status >= 100 && status < 200 && status != 101;
}

}  // namespace

struct response_parser::impl {
  explicit impl(bool to_head) : to_head{to_head} { parsing.emplace(to_head); }

  bool whole_head() const { return parsing->is_header_done() && !is_interim(parsing->head.status); }
  bool tunnels() const { return whole_head() && parsing->head.status == 101; }

  const bool to_head;
  std::optional<message> parsing;
  std::string unread;  // an incomplete token
  int interim = 0;
};

response_parser::response_parser(bool to_head) : impl_{std::make_unique<impl>(to_head)} {}
response_parser::~response_parser() = default;

std::optional<std::string> response_parser::feed(std::string_view bytes) {
  auto& parsing = impl_->parsing;
  impl_->unread += bytes;
  std::string_view rest = impl_->unread;
  std::optional<std::string> problem;
  while (!rest.empty() && !parsing->is_done() && !problem) {
    error_code ec;
    rest.remove_prefix(parsing->put({rest.data(), rest.size()}, ec));
    if (ec == beast::error::need_more) {
      // The head of a chunk, or trailers, which Beast does not bound.
      if (rest.size() > defaults::header_limit_bytes) problem = "malformed HTTP response";
      break;
    }
    if (ec) problem = "malformed HTTP response: " + ec.message();
    if (problem || !parsing->is_done() || !is_interim(parsing->head.status)) continue;
    if (++impl_->interim > defaults::interim_answers) problem = "too many 1xx responses";
    parsing.emplace(impl_->to_head);
  }
  if (impl_->tunnels()) {
    parsing->body += rest;
    rest = {};
  }
  if (parsing->is_done()) rest = {};  // no further response was requested
  impl_->unread.erase(0, impl_->unread.size() - rest.size());
  return problem;
}

std::optional<std::string> response_parser::end() {
  if (complete()) return std::nullopt;
  error_code ec;
  if (head() != nullptr) impl_->parsing->put_eof(ec);
  if (head() == nullptr || ec) return "EOF";
  return std::nullopt;
}

const backend_head* response_parser::head() const noexcept {
  return impl_->whole_head() ? &impl_->parsing->head : nullptr;
}

std::string response_parser::take_body() {
  return std::exchange(impl_->parsing->body, {});
}

bool response_parser::complete() const noexcept {
  return impl_->whole_head() && !impl_->tunnels() && impl_->parsing->is_done();
}

}  // namespace troupe::server
