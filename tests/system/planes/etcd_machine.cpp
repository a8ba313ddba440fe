#include "system/planes/etcd_machine.hpp"

#include <fmt/format.h>

#include <csignal>
#include <stdexcept>

namespace troupe::test {

namespace {

// Small, so that a test can fill it.
constexpr int quota_bytes = 64 << 20;
constexpr std::chrono::milliseconds end_limit{60'000};

}  // namespace

etcd_machine::etcd_machine(virtual_switch& network, virtual_switch::port number,
                           const std::filesystem::path& folder)
    : number_{number}, folder_{folder / name()} {
  std::filesystem::create_directories(folder_);
  network.plug(space_, number);
}

etcd_machine::~etcd_machine() {
  if (process_) kill();
}

std::string etcd_machine::client_url() const {
  return fmt::format("http://{}:2379", virtual_switch::address_of(number_));
}

std::string etcd_machine::peer_url() const {
  return fmt::format("http://{}:2380", virtual_switch::address_of(number_));
}

void etcd_machine::start(const std::string& members, bool existing) {
  members_ = members;
  existing_ = existing;
  restart();
}

// The election timeout is short, so that a test sees many elections.
void etcd_machine::restart() {
  auto command = space_.wrapper();
  for (const auto& each : words_of(fmt::format(
           "etcd --data-dir {0}/data --name {1} --listen-client-urls {2},http://127.0.0.1:2379 "
           "--advertise-client-urls {2} --listen-peer-urls {3} --initial-advertise-peer-urls {3} "
           "--initial-cluster {4} --initial-cluster-state {5} --heartbeat-interval 50 "
           "--election-timeout 500 --pre-vote --snapshot-count 10000 --quota-backend-bytes {6} "
           "--enable-v2=false --logger zap --log-level warn",
           folder_.string(), name(), client_url(), peer_url(), members_,
           existing_ ? "existing" : "new", quota_bytes)))
    command.push_back(each);
  process_ = std::make_unique<process>(std::move(command), folder_ / "log");
}

void etcd_machine::kill() {
  process_->signal(SIGKILL);
  if (!process_->wait(end_limit)) throw std::runtime_error{name() + " survives SIGKILL"};
}

void etcd_machine::wipe() {
  std::filesystem::remove_all(folder_ / "data");
}

bool etcd_machine::restore(const std::filesystem::path& backup, const std::string& members,
                           const std::string& token) const {
  return shell(fmt::format("ETCDCTL_API=3 etcdctl snapshot restore {0} --name {1} "
                           "--initial-cluster {2} --initial-cluster-token {5} "
                           "--initial-advertise-peer-urls {3} --data-dir {4}/data "
                           ">>{4}/control.log 2>&1",
                           backup.string(), name(), members, peer_url(), folder_.string(), token))
             .code == 0;
}

process_result etcd_machine::control(const std::string& endpoints, const std::string& words) const {
  process_result out{};
  space_.run([&] {
    out = shell(fmt::format("ETCDCTL_API=3 timeout 20 etcdctl --endpoints {} {} 2>>{}/control.log",
                            endpoints, words, folder_.string()));
  });
  return out;
}

}  // namespace troupe::test
