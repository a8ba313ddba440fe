#include "tools/console/console_client.hpp"

#include "server/connections/local_socket.hpp"
#include "server/http/query.hpp"

namespace troupe::tools {

namespace {

std::string path_of(const console_request& request) {
  std::string path = "/console/api/" + request.path;
  char separator = '?';
  for (const auto& [name, value] : request.query) {
    path += separator + name + "=" + server::percent_encode(value);
    separator = '&';
  }
  return path;
}

}  // namespace

tl::expected<std::unique_ptr<console_client>, std::string> console_client::make(
    const server::cluster_access& access) {
  auto http = node_client::make(access);
  if (!http) return tl::make_unexpected(http.error());
  return std::unique_ptr<console_client>{new console_client{std::move(*http)}};
}

std::unique_ptr<console_client> console_client::at(const std::filesystem::path& data_dir) {
  auto http = node_client::at(data_dir / server::console_socket);
  return std::unique_ptr<console_client>{new console_client{std::move(http)}};
}

tl::expected<std::string, std::string> console_client::ask(const console_request& request) {
  client_request call;
  call.path = path_of(request);
  if (request.changes) {
    call.method = "POST";
    call.headers.emplace("x-troupe-control", "allow");
  }
  auto answer = http_->call(call);
  if (!answer) return tl::make_unexpected(answer.error());
  if (answer->status != 200) return tl::make_unexpected(refusal(*answer));
  return std::move(answer->body);
}

tl::expected<void, std::string> console_client::follow(
    const console_request& request, const std::function<bool(std::string_view)>& take) {
  const auto answer = http_->follow(path_of(request), take);
  if (!answer) return tl::make_unexpected(answer.error());
  if (answer->status != 200) return tl::make_unexpected(refusal(*answer));
  return {};
}

}  // namespace troupe::tools
