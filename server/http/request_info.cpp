#include "server/http/request_info.hpp"

#include <algorithm>
#include <array>

#include "api/selectors/field_terms.hpp"
#include "api/values/ascii.hpp"
#include "api/values/syntax.hpp"

namespace troupe::server {
namespace {

template <std::size_t N>
bool is_one_of(std::string_view text, const std::array<std::string_view, N>& words) {
  return std::find(words.begin(), words.end(), text) != words.end();
}

std::vector<std::string> split(std::string_view path) {
  std::vector<std::string> parts;
  while (path.starts_with('/'))
    path.remove_prefix(1);
  while (path.ends_with('/'))
    path.remove_suffix(1);
  while (!path.empty()) {
    const auto end = path.find('/');
    parts.emplace_back(path.substr(0, end));
    if (end == std::string_view::npos) break;
    path.remove_prefix(end + 1);
  }
  return parts;
}

std::string verb_of(std::string_view method) {
  if (method == "POST") return "create";
  if (method == "GET" || method == "HEAD") return "get";
  if (method == "PUT") return "update";
  if (method == "PATCH") return "patch";
  if (method == "DELETE") return "delete";
  return {};
}

// The name that the selector of a list or a watch requires, so that it is authorized by that name;
// empty: none, or one that no object can have.
//
// kubernetes: apiserver/pkg/endpoints/request, NewRequestInfo.
std::string required_name(std::string_view selector) {
  const auto terms = api::parse_field_terms(selector);
  if (!terms) return {};
  const auto found = std::find_if(terms->begin(), terms->end(), [](const api::field_term& each) {
    return each.equal && each.path == "metadata.name";
  });
  if (found == terms->end() || !api::check_path_segment(found->value).empty()) return {};
  return found->value;
}

// Parses from the namespace on; `parts` starts after the version.
void read_resource(request_info& info, std::vector<std::string> parts) {
  static constexpr std::array<std::string_view, 2> of_namespaces{"status", "finalize"};
  if (parts.front() == "namespaces" && parts.size() > 1) {
    info.namespace_name = parts[1];
    if (parts.size() > 2 && !is_one_of(parts[2], of_namespaces))
      parts.erase(parts.begin(), parts.begin() + 2);
  }
  info.parts = std::move(parts);
  info.resource = info.parts[0];
  if (info.parts.size() > 1) info.name = info.parts[1];
  if (info.parts.size() > 2 && info.verb != "proxy" && info.verb != "watch")
    info.subresource = info.parts[2];
}

void refine_collection_verb(request_info& info, const query_string& query) {
  if (!info.name.empty()) return;
  // As upstream, a watch by its path (/api/v1/watch/pods) is not authorized by its selector.
  if (info.verb == "get") {
    info.verb = query.flag("watch") ? "watch" : "list";
    info.field_selector = query.get_or("fieldSelector", "");
    info.name = required_name(info.field_selector);
  } else if (info.verb == "delete") {
    info.verb = "deletecollection";
  }
}

}  // namespace

request_info parse_request_info(std::string_view method, std::string_view path,
                                const query_string& query) {
  static constexpr std::array<std::string_view, 2> special_verbs{"proxy", "watch"};
  request_info info;
  info.path = path;
  info.verb = api::to_lower(method);
  auto parts = split(path);
  if (parts.size() < 3 || (parts[0] != "api" && parts[0] != "apis")) return info;
  const bool grouped = parts[0] == "apis";
  if (grouped && parts.size() < 4) return info;

  info.is_resource = true;
  info.api_prefix = parts[0];
  if (grouped) info.group = parts[1];
  info.version = parts[grouped ? 2 : 1];
  parts.erase(parts.begin(), parts.begin() + (grouped ? 3 : 2));
  info.verb = verb_of(method);
  if (is_one_of(parts.front(), special_verbs) && parts.size() > 1) {
    info.verb = parts.front();
    parts.erase(parts.begin());
  }
  read_resource(info, std::move(parts));
  refine_collection_verb(info, query);
  return info;
}

bool request_info::mutates() const noexcept {
  static constexpr std::array<std::string_view, 6> reading{"get",   "list", "watch",
                                                           "proxy", "head", "options"};
  return !is_one_of(verb, reading);
}

bool request_info::long_running() const noexcept {
  static constexpr std::array<std::string_view, 5> subresources{"attach", "exec", "proxy", "log",
                                                                "portforward"};
  return is_resource &&
         (verb == "watch" || verb == "proxy" || is_one_of(subresource, subresources));
}

}  // namespace troupe::server
