#include "system/planes/plane_cluster.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <stdexcept>

#include "etcd/etcd_server.hpp"
#include "system/network/joined_cluster.hpp"

namespace troupe::test {

namespace {

constexpr virtual_switch::port first_member = 4, witness_port = 7;
constexpr std::chrono::milliseconds start_limit{20'000};

}  // namespace

std::string plane_cluster::missing() {
  if (auto reason = etcd_server::missing(); !reason.empty()) return reason;
  if (::access("/usr/bin/etcdctl", X_OK) != 0)
    return "etcdctl is not installed (package etcd-client)";
  return ::access("/usr/bin/strace", X_OK) == 0 ? "" : "strace is not installed";
}

plane_cluster::plane_cluster() {
  std::string places;
  for (std::size_t i = 0; i < size; ++i) {
    members_.push_back(std::make_unique<etcd_machine>(
        network_, first_member + static_cast<virtual_switch::port>(i), folder()));
    places += (i == 0 ? "" : ",") + members_.back()->place();
  }
  for (auto& each : members_)
    each->start(places);
  if (!soon(start_limit, [&] { return control("endpoint health").code == 0; }))
    throw std::runtime_error{"the members of etcd do not come up"};
  witness_ = std::make_unique<history_witness>(network_, witness_port, endpoints(), folder());
  for (std::size_t i = 0; i < size; ++i) {
    planes_.push_back(
        std::make_unique<machine>(network_, static_cast<virtual_switch::port>(i + 1), folder()));
    auto& made = *planes_.back();
    // All share one certificate authority, as after `troupe join --control-plane`.
    if (i > 0) {
      std::filesystem::create_directories(made.data());
      std::filesystem::copy(planes_.front()->data() / "pki", made.data() / "pki",
                            std::filesystem::copy_options::recursive);
    }
    made.start(words_of_plane(i));
  }
}

std::vector<std::string> plane_cluster::words_of_plane(std::size_t index) const {
  const auto& made = *planes_[index];
  return {"node",
          "--listen",
          made.address() + ":6443",
          "--node-name",
          made.name(),
          "--runtime",
          "simulated",
          "--store",
          "etcd",
          "--etcd-endpoints",
          endpoints(index),
          "--etcd-leader-lease",
          fmt::format("{}s", leader_lease.count()),
          "--etcd-compaction-interval",
          "30s"};
}

std::string plane_cluster::endpoints(std::size_t first, std::size_t without) const {
  std::string all;
  for (std::size_t i = 0; i < size; ++i)
    if (const auto index = (first + i) % size; index != without)
      all += (all.empty() ? "" : ",") + members_[index]->client_url();
  return all;
}

process_result plane_cluster::control(const std::string& words, std::size_t without) const {
  return members_[without == 0 ? 1 : 0]->control(endpoints(0, without), words);
}

std::optional<std::size_t> plane_cluster::leader() const {
  const auto name = witness_->leader();
  for (std::size_t i = 0; i < planes_.size(); ++i)
    if (planes_[i]->name() == name) return i;
  return std::nullopt;
}

std::size_t plane_cluster::leading_member() const {
  for (std::size_t i = 0; i < size; ++i) {
    const auto told =
        members_[i]->control(members_[i]->client_url(), "endpoint status --write-out fields");
    const auto number = [&](const std::string& name) {
      const auto at = told.output.find("\"" + name + "\" : ");
      if (at == std::string::npos) return std::string{};
      return told.output.substr(at + name.size() + 5,
                                told.output.find('\n', at) - at - name.size() - 5);
    };
    if (told.code == 0 && !number("Leader").empty() && number("Leader") == number("MemberID"))
      return i;
  }
  return 0;
}

std::string plane_cluster::replace_member(std::size_t index) {
  auto& lost = *members_[index];
  lost.wipe();
  const auto list = control("member list", index).output;
  const auto place = list.find(", " + lost.name() + ",");
  if (place == std::string::npos) return "it is not in the list: " + list;
  const auto begin = list.rfind('\n', place) + 1;  // npos + 1 = 0 on the first line
  const auto id = list.substr(begin, list.find(',', begin) - begin);
  const auto done =
      soon(start_limit, [&] { return control("member remove " + id, index).code == 0; });
  if (!done) return "member " + id + " cannot be removed";
  const auto add = fmt::format("member add {} --peer-urls {}", lost.name(), lost.peer_url());
  if (!soon(start_limit, [&] { return control(add, index).code == 0; }))
    return "member " + lost.name() + " cannot be added";
  std::string places;
  for (const auto& each : members_)
    places += (places.empty() ? "" : ",") + each->place();
  lost.start(places, true);
  return "";
}

}  // namespace troupe::test
