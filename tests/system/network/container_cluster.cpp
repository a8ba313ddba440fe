#include "system/network/container_cluster.hpp"

#include <stdexcept>

#include "actors/network/services/nft_process.hpp"
#include "support/skip.hpp"

namespace troupe::test {

bool container_cluster::possible() {
  if (const auto lacks = private_containerd::missing()) return skip(*lacks), false;
  if (!actors::services::find_nft()) return skip("the program nft is not installed"), false;
  return network_space::possible();
}

container_cluster::container_cluster(unsigned joined, std::vector<std::string> flags,
                                     const std::vector<std::string>& control) {
  auto all = patient();
  all.control.insert(all.control.end(), control.begin(), control.end());
  all.own = [this, flags = std::move(flags)](machine& one) { return prepare(one, flags); };
  cluster_ = std::make_unique<joined_cluster>(joined, all);
}

container_cluster::~container_cluster() {
  for (const auto& [number, runtime] : runtimes_)
    if (cluster_->at(number).runs()) cluster_->at(number).kill();
  // Before the processes of their namespaces are killed.
  runtimes_.clear();
}

std::vector<std::string> container_cluster::prepare(machine& one,
                                                    const std::vector<std::string>& flags) {
  // A route beyond the link, as machines have: without it no packet to service addresses is sent.
  one.run("ip route add default dev net0");
  auto& runtime = runtimes_[one.number()];
  runtime =
      std::make_unique<private_containerd>(folder_.path() / one.name(), "", one.space().wrapper());
  auto words = flags;
  words.insert(words.end(), {"--runtime", "cri", "--cri-endpoint", runtime->endpoint()});
  return words;
}

void container_cluster::import_image(const std::filesystem::path& archive) {
  for (const auto& [number, runtime] : runtimes_)
    runtime->ctr("images import " + archive.string());
}

void container_cluster::delete_pods() {
  cluster_->kubectl("delete rc --all");
  cluster_->kubectl("delete pods --all --grace-period=1");
}

std::string container_cluster::left_of_pods(machine& on) {
  const auto seen = on.run(
      "ip -o link | grep veth; ip route | grep veth; "
      "ls data/pod-addresses/troupe 2>/dev/null | grep -v -e lock -e last; "
      "nft list map ip troupe node-ports 2>/dev/null | grep goto; "
      "grep -o -e '" +
      runtime(on).folder().string() + "/[^ ]*' -e '" + on.data().string() + "/[^ ]*' /proc/mounts");
  return seen.output;
}

}  // namespace troupe::test
