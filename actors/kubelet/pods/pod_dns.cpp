#include "actors/kubelet/pods/pod_dns.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <sstream>

#include "api/schema/meta_object.pb.h"

namespace troupe::actors {

namespace {

// kubernetes: MaxDNSNameservers, which is that of the C library; resolvers ignore further ones.
constexpr std::size_t most_servers = 3;

resolver_config with_cluster(const std::string& ns, const resolver_config& node,
                             const cluster_resolver& cluster) {
  const auto services = "svc." + cluster.domain;
  resolver_config out{.servers = {cluster.address},
                      .searches = {ns + "." + services, services, cluster.domain},
                      .options = {"ndots:5"}};
  out.searches.insert(out.searches.end(), node.searches.begin(), node.searches.end());
  return out;
}

void add_new(const google::protobuf::RepeatedPtrField<std::string>& from,
             std::vector<std::string>& to) {
  for (const auto& each : from)
    if (std::find(to.begin(), to.end(), each) == to.end()) to.push_back(each);
}

// Replaces the option of that name (kubernetes: mergeDNSOptions).
void set_option(const std::string& name, const std::string& value,
                std::vector<std::string>& options) {
  const auto text = value.empty() ? name : name + ":" + value;
  const auto found = std::find_if(options.begin(), options.end(), [&](const auto& each) {
    return each == name || each.starts_with(name + ":");
  });
  if (found == options.end())
    options.push_back(text);
  else
    *found = text;
}

}  // namespace

resolver_config parse_resolv_conf(std::string_view text) {
  resolver_config out;
  std::istringstream lines{std::string{text}};
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words{line};
    std::string key;
    words >> key;
    std::vector<std::string> values{std::istream_iterator<std::string>{words}, {}};
    if (key == "nameserver" && !values.empty()) out.servers.push_back(values.front());
    // The last line wins, as in the C library's resolver.
    if (key == "search") out.searches = std::move(values);
    if (key == "options") out.options = std::move(values);
  }
  return out;
}

std::string resolv_conf_of(const resolver_config& config) {
  std::string text;
  for (const auto& each : config.servers)
    text += fmt::format("nameserver {}\n", each);
  if (!config.searches.empty()) text += fmt::format("search {}\n", fmt::join(config.searches, " "));
  if (!config.options.empty()) text += fmt::format("options {}\n", fmt::join(config.options, " "));
  return text;
}

bool wants_cluster_dns(const api::core::v1::Pod& pod) {
  const auto& policy = pod.spec().dns_policy();
  return policy == "ClusterFirstWithHostNet" ||
         (policy == "ClusterFirst" && !pod.spec().host_network());
}

resolver_config resolver_of(const api::core::v1::Pod& pod, const resolver_config& node,
                            const cluster_resolver& cluster) {
  resolver_config out;
  if (pod.spec().dns_policy() != "None") out = node;
  if (wants_cluster_dns(pod) && !cluster.address.empty())
    out = with_cluster(pod.metadata().namespace_(), node, cluster);
  const auto& own = pod.spec().dns_config();
  add_new(own.nameservers(), out.servers);
  add_new(own.searches(), out.searches);
  for (const auto& option : own.options())
    set_option(option.name(), option.value(), out.options);
  if (out.servers.size() > most_servers) out.servers.resize(most_servers);
  return out;
}

}  // namespace troupe::actors
