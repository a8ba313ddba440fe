#include "system/planes/plane_cluster.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <stdexcept>

#include "etcd/etcd_server.hpp"
#include "system/network/joined_cluster.hpp"

namespace troupe::test {

namespace {

constexpr virtual_switch::port first_member = 4, witness_port = 7;
constexpr std::chrono::milliseconds start_limit{120'000};
// Long enough for hundreds of frames under the load.
constexpr std::chrono::milliseconds count_time{300};

}  // namespace

std::string plane_cluster::missing() {
  if (auto reason = etcd_server::missing(); !reason.empty()) return reason;
  if (::access("/usr/bin/etcdctl", X_OK) != 0)
    return "etcdctl is not installed (package etcd-client)";
  return ::access("/usr/bin/strace", X_OK) == 0 ? "" : "strace is not installed";
}

plane_cluster::plane_cluster(const std::filesystem::path& program) {
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
    // All share one certificate authority, as after `troupe join --control-plane`. The files of the
    // front proxy are written beside the start.
    if (i > 0) {
      const auto last_file = planes_.front()->data() / "pki/front-proxy-client.crt";
      if (!soon(start_limit, [&] { return std::filesystem::exists(last_file); }))
        throw std::runtime_error{last_file.string() + " is not written"};
      std::filesystem::create_directories(made.data());
      std::filesystem::copy(planes_.front()->data() / "pki", made.data() / "pki",
                            std::filesystem::copy_options::recursive);
    }
    if (!program.empty()) made.use(program);
#ifndef TROUPE_SANITIZED  // a sanitizer's library must be the first that is loaded
    made.clock_skew(std::chrono::seconds{0});
#endif
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

std::string plane_cluster::status(std::size_t member, const std::string& name) const {
  const auto& asked = *members_[member];
  const auto told = asked.control(asked.client_url(), "endpoint status --write-out fields");
  const auto at = told.output.find("\"" + name + "\" : ");
  if (told.code != 0 || at == std::string::npos) return {};
  return told.output.substr(at + name.size() + 5,
                            told.output.find('\n', at) - at - name.size() - 5);
}

std::size_t plane_cluster::leading_member() const {
  for (std::size_t i = 0; i < size; ++i) {
    const auto id = status(i, "MemberID");
    if (!id.empty() && status(i, "Leader") == id) return i;
  }
  return 0;
}

bool plane_cluster::follow_with(std::size_t member) const {
  if (leading_member() != member) return true;
  const auto next = status((member + 1) % size, "MemberID");
  const auto& asked = *members_[member];
  return !next.empty() &&
         asked.control(asked.client_url(), fmt::format("move-leader {:x}", std::stoull(next)))
                 .code == 0;
}

std::array<std::size_t, plane_cluster::size> plane_cluster::members_in_use() const {
  std::array<std::array<std::uint64_t, size>, size> frames{};
  // Adds what passes until the second call.
  const auto count = [&] {
    for (std::size_t i = 0; i < size; ++i)
      for (std::size_t j = 0; j < size; ++j)
        frames[i][j] =
            network_.counted(planes_[i]->number(), members_[j]->number()).passed - frames[i][j];
  };
  count();
  ::poll(nullptr, 0, static_cast<int>(count_time.count()));
  count();
  std::array<std::size_t, size> used{};
  for (std::size_t i = 0; i < size; ++i)
    used[i] = static_cast<std::size_t>(std::max_element(frames[i].begin(), frames[i].end()) -
                                       frames[i].begin());
  return used;
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
  lost.start(places(), true);
  return "";
}

std::string plane_cluster::places() const {
  std::string all;
  for (const auto& each : members_)
    all += (all.empty() ? "" : ",") + each->place();
  return all;
}

bool plane_cluster::save(const std::filesystem::path& backup) const {
  const auto& asked = *members_.front();
  return asked.control(asked.client_url(), "snapshot save " + backup.string()).code == 0;
}

bool plane_cluster::restore(const std::filesystem::path& backup, const std::string& token) {
  for (auto& each : members_) {
    each->kill();
    each->wipe();
    if (!each->restore(backup, places(), token)) return false;
  }
  for (auto& each : members_)
    each->start(places());
  return soon(start_limit, [&] { return control("endpoint health").code == 0; });
}

}  // namespace troupe::test
