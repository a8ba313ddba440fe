// One GET request of our own to a port in the cluster; the bounded response is kept in memory.
// Redirects are not followed.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <tl/expected.hpp>

#include "runtime/actor.hpp"
#include "server/rest/proxy/backend_connection.hpp"
#include "server/rest/proxy/response_parser.hpp"

namespace troupe::server {

struct fetch_answer {
  int status = 0;
  std::string body;
};
using fetch_result = tl::expected<fetch_answer, std::string>;

struct fetch_request {
  std::string head;  // with its final empty line
  std::size_t limit_bytes = 0;
  runtime::duration timeout{0};
};

class backend_fetch : public runtime::actor {
 public:
  // `done` is called once, on any thread.
  backend_fetch(proxy_target target, fetch_request request, std::function<void(fetch_result)> done);
  ~backend_fetch() override;

  const runtime::behavior& make_behavior() const override;
  void started() override;
  std::string describe() const override;

 private:
  void on_opened(const backend_opened& m);
  void on_read(const backend_read& m);
  void on_written(const backend_written& m);
  void write();
  void finish(fetch_result result);

  backend_connection connection_;
  const fetch_request request_;
  std::function<void(fetch_result)> done_;
  response_parser parser_{false};
  std::string body_;
  bool sent_ = false;
  runtime::timer late_;
};

}  // namespace troupe::server
