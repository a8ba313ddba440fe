#include "tools/client/cluster_client.hpp"

#include <algorithm>
#include <cctype>

#include "api/codec/codec.hpp"
#include "api/schema/meta_request.pb.h"
#include "api/scheme.hpp"
#include "server/http/query.hpp"

namespace troupe::tools {

namespace {

std::string in_lower_case(std::string_view text) {
  std::string out{text};
  std::transform(out.begin(), out.end(), out.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return out;
}

tl::expected<client_answer, std::string> get(cluster_client& from, std::string path) {
  client_request request;
  request.path = std::move(path);
  auto answer = from.call(request);
  if (answer && answer->status != 200 && answer->status != 404)
    return tl::make_unexpected(refusal(*answer));
  return answer;
}

}  // namespace

std::string path_of(const api::kind_info& kind, std::string_view ns, std::string_view name) {
  std::string out = kind.group().empty() ? "/api/" : "/apis/";
  out += kind.api_version();
  if (kind.namespaced()) out += "/namespaces/" + server::percent_encode(ns);
  out += '/' + kind.plural();
  if (!name.empty()) out += '/' + server::percent_encode(name);
  return out;
}

api::kind_handle find_kind(std::string_view word) {
  const auto wanted = in_lower_case(word);
  for (const auto* kind : api::scheme::instance().all()) {
    const auto& options = kind->options();
    if (!kind->stored()) continue;
    if (wanted == kind->plural() || wanted == options.singular() ||
        wanted == in_lower_case(kind->kind()) || wanted == kind->qualified_plural() ||
        std::count(options.short_names().begin(), options.short_names().end(), wanted) != 0)
      return kind;
  }
  return nullptr;
}

tl::expected<std::unique_ptr<api::body>, std::string> get_object(cluster_client& from,
                                                                 const api::kind_info& kind,
                                                                 const std::string& ns,
                                                                 const std::string& name) {
  const auto answer = get(from, path_of(kind, ns, name));
  if (!answer) return tl::make_unexpected(answer.error());
  if (answer->status == 404) return nullptr;
  auto decoded = api::decode(answer->body, api::media::json, &kind);
  if (!decoded) return tl::make_unexpected(decoded.error().message);
  return std::move(decoded->content);
}

tl::expected<void, std::string> list_into(cluster_client& from, const api::kind_info& kind,
                                          const std::string& ns, const std::string& labels,
                                          api::body& into) {
  auto path = path_of(kind, ns);
  if (!labels.empty()) path += "?labelSelector=" + server::percent_encode(labels);
  const auto answer = get(from, std::move(path));
  if (!answer) return tl::make_unexpected(answer.error());
  if (answer->status == 404) return tl::make_unexpected(refusal(*answer));
  // As large as the cluster: the size limits of request bodies do not apply to responses.
  api::decode_options options;
  options.size_limit_bytes = answer->body.size();
  options.memory_limit_bytes = answer->body.size() * 20;
  const auto done = api::decode_into(answer->body, api::media::json, into, options);
  if (!done) return tl::make_unexpected(done.error().message);
  return {};
}

std::string refusal(const client_answer& answer) {
  api::meta::v1::Status status;
  if (api::decode_into(answer.body, api::media::json, status) && !status.message().empty())
    return status.message();
  return "the server answered with status " + std::to_string(answer.status);
}

}  // namespace troupe::tools
