#include "server/rest/aggregation/aggregated_apis.hpp"

#include <algorithm>
#include <utility>

namespace troupe::server {
namespace {

// The documents of a server without aggregated APIs; one for the process.
const std::shared_ptr<api::discovery_documents>& own_discovery() {
  static const auto made = std::make_shared<api::discovery_documents>();
  return made;
}

const std::shared_ptr<api::openapi_v2_documents>& own_openapi() {
  static const auto made = std::make_shared<api::openapi_v2_documents>();
  return made;
}

// "GROUP/VERSION" of a path below /apis/; empty without both.
std::string_view name_in(std::string_view path) {
  static constexpr std::string_view openapi = "/openapi/v3", apis = "/apis/";
  if (path.starts_with(openapi)) path.remove_prefix(openapi.size());
  if (!path.starts_with(apis)) return {};
  path.remove_prefix(apis.size());
  const auto slash = path.find('/');
  if (slash == path.npos) return {};
  return path.substr(0, std::min(path.find('/', slash + 1), path.size()));
}

}  // namespace

aggregated_apis::aggregated_apis() : discovery_{own_discovery()}, openapi_{own_openapi()} {}

aggregated_api_ptr aggregated_apis::find(std::string_view path) const {
  if (!any_.load(std::memory_order_acquire)) return nullptr;
  const std::lock_guard lock{mutex_};
  const auto found = by_name_.find(name_in(path));
  return found == by_name_.end() ? nullptr : found->second;
}

aggregated_api_ptr aggregated_apis::find(std::string_view group, std::string_view version) const {
  return find("/apis/" + std::string{group} + "/" + std::string{version});
}

std::vector<std::string> aggregated_apis::names() const {
  std::vector<std::string> out;
  if (!any_.load(std::memory_order_acquire)) return out;
  const std::lock_guard lock{mutex_};
  for (const auto& [name, api] : by_name_)
    out.push_back(name);
  return out;
}

std::shared_ptr<api::discovery_documents> aggregated_apis::discovery() const {
  if (!any_.load(std::memory_order_acquire)) return own_discovery();
  const std::lock_guard lock{mutex_};
  return discovery_;
}

std::shared_ptr<api::openapi_v2_documents> aggregated_apis::openapi() const {
  if (!any_.load(std::memory_order_acquire)) return own_openapi();
  const std::lock_guard lock{mutex_};
  return openapi_;
}

void aggregated_apis::publish(std::vector<aggregated_api_ptr> all,
                              const api::foreign_versions& discovered,
                              const api::foreign_openapis& described) {
  const std::lock_guard lock{mutex_};
  by_name_.clear();
  for (auto& each : all)
    by_name_[each->group + "/" + each->version] = std::move(each);
  // Documents are built on demand: not again while nothing changes.
  if (discovered != discovered_) {
    discovered_ = discovered;
    discovery_ = std::make_shared<api::discovery_documents>(discovered);
  }
  if (described != described_) {
    described_ = described;
    openapi_ =
        described.empty() ? own_openapi() : std::make_shared<api::openapi_v2_documents>(described);
  }
  any_.store(!by_name_.empty(), std::memory_order_release);
}

}  // namespace troupe::server
