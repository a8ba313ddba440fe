#include "tools/node/network_choice.hpp"

namespace troupe::tools {

using config::network_mode;

tl::expected<network_choice, std::string> choose_network(const config::network_config& from,
                                                         bool images, const std::string& missing) {
  switch (from.mode) {
    case network_mode::none:
      return network_choice{};
    case network_mode::services:
      if (!missing.empty()) return tl::make_unexpected("network.mode services: " + missing);
      return network_choice{.services = true, .pods = false, .log = {}};
    case network_mode::pods:
      if (!missing.empty()) return tl::make_unexpected("network.mode pods: " + missing);
      if (!images)
        return tl::make_unexpected(
            "network.mode pods: pods are processes of this machine and have its addresses; it "
            "needs a container runtime (kubelet.runtime)");
      if (from.pod_cidrs.empty())
        return tl::make_unexpected("network.mode pods: network.podCidrs names no range");
      return network_choice{.services = true, .pods = true, .log = {}};
    case network_mode::automatic:
      break;
  }
  if (!images)
    return network_choice{
        .services = false,
        .pods = false,
        .log = "no cluster network on this node, since pods do not run from images"};
  if (!missing.empty())
    return network_choice{
        .services = false, .pods = false, .log = "no cluster network on this node: " + missing};
  const bool pods = !from.pod_cidrs.empty();
  return network_choice{.services = true,
                        .pods = pods,
                        .log = pods ? "services, names and addresses of pods, since they run from "
                                      "images and this machine allows it"
                                    : "services and names; network.podCidrs names no range for "
                                      "pods"};
}

bool guards_all_pods(const network_choice& choice, bool images) {
  return choice.services && images;
}

}  // namespace troupe::tools
