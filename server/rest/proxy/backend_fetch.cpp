#include "server/rest/proxy/backend_fetch.hpp"

#include <fmt/format.h>

#include <utility>

namespace troupe::server {

backend_fetch::backend_fetch(proxy_target target, fetch_request request,
                             std::function<void(fetch_result)> done)
    : connection_{std::move(target)}, request_{std::move(request)}, done_{std::move(done)} {}

backend_fetch::~backend_fetch() {
  finish(tl::make_unexpected(std::string{"the request was cancelled"}));
}

const runtime::behavior& backend_fetch::make_behavior() const {
  static const runtime::behavior table = runtime::handlers(
      &backend_fetch::on_opened, &backend_fetch::on_read, &backend_fetch::on_written);
  return table;
}

void backend_fetch::started() {
  late_ = after(request_.timeout, [this] {
    finish(tl::make_unexpected(
        std::string{"context deadline exceeded (Client.Timeout exceeded while awaiting headers)"}));
    stop();
  });
  connection_.open(self());
}

std::string backend_fetch::describe() const {
  return fmt::format("port: {}\nread: {}\n", connection_.target().host, body_.size());
}

void backend_fetch::on_opened(const backend_opened& m) {
  if (const auto problem = connection_.take(m)) {
    finish(tl::make_unexpected(*problem));
    return stop();
  }
  connection_.read();
  write();
}

void backend_fetch::write() {
  if (!connection_.idle()) return;
  const bool now = connection_.ready() && !sent_;
  sent_ = sent_ || now;
  connection_.write(now ? request_.head : std::string{});
}

void backend_fetch::on_written(const backend_written& m) {
  connection_.take(m);
  write();
}

void backend_fetch::on_read(const backend_read& m) {
  auto got = connection_.take(m);
  auto problem = got.bytes.empty() ? std::nullopt : parser_.feed(got.bytes);
  if (!problem) problem = std::move(got.problem);
  if (!problem && got.ended) problem = parser_.end();
  body_ += parser_.take_body();
  if (!problem && body_.size() > request_.limit_bytes)
    problem = fmt::format("the answer is larger than {} bytes", request_.limit_bytes);
  if (problem) {
    finish(tl::make_unexpected(std::move(*problem)));
    return stop();
  }
  if (parser_.complete() || got.ended) {
    finish(fetch_answer{parser_.head()->status, std::move(body_)});
    return stop();
  }
  write();
  connection_.read();
}

void backend_fetch::finish(fetch_result result) {
  if (const auto done = std::exchange(done_, {})) done(std::move(result));
}

}  // namespace troupe::server
