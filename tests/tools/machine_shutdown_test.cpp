// Whether the machine stops, asked of a manager with systemd's protocol on a private socket.
#include "tools/node/machine_shutdown.hpp"

#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <systemd/sd-bus.h>
#include <systemd/sd-id128.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <cstring>
#include <thread>

#include "config/node_config.hpp"
#include "support/scratch_folder.hpp"

using namespace troupe;
using namespace std::chrono_literals;

namespace {

// Answers one property request, and ends.
class manager {
 public:
  explicit manager(std::string state) : state_{std::move(state)} {
    listener_ = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_un at{};
    at.sun_family = AF_UNIX;
    std::strncpy(at.sun_path, path().c_str(), sizeof at.sun_path - 1);
    REQUIRE(::bind(listener_, reinterpret_cast<const sockaddr*>(&at), sizeof at) == 0);
    REQUIRE(::listen(listener_, 1) == 0);
    thread_ = std::thread{[this] { serve(); }};
  }
  ~manager() {
    thread_.join();
    ::close(listener_);
  }
  std::string address() const { return "unix:path=" + path(); }

 private:
  std::string path() const { return folder_.path() / "private"; }

  void serve() {
    pollfd asked{listener_, POLLIN, 0};
    if (::poll(&asked, 1, 10'000) != 1) return;
    const int fd = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
    sd_bus* bus = nullptr;
    sd_id128_t id{};
    ::sd_id128_randomize(&id);
    ::sd_bus_new(&bus);
    ::sd_bus_set_fd(bus, fd, fd);
    ::sd_bus_set_server(bus, 1, id);
    ::sd_bus_add_filter(bus, nullptr, &manager::answer, this);
    ::sd_bus_start(bus);
    const auto until = std::chrono::steady_clock::now() + 10s;
    while (!answered_ && std::chrono::steady_clock::now() < until)
      if (const int done = ::sd_bus_process(bus, nullptr); done < 0)
        break;
      else if (done == 0)
        ::sd_bus_wait(bus, 1'000'000);
    ::sd_bus_flush_close_unref(bus);
  }
  static int answer(sd_bus_message* question, void* self, sd_bus_error*) {
    auto& me = *static_cast<manager*>(self);
    if (::sd_bus_message_is_method_call(question, "org.freedesktop.DBus.Properties", "Get") <= 0)
      return 0;
    me.answered_ = true;
    return ::sd_bus_reply_method_return(question, "v", "s", me.state_.c_str());
  }

  const std::string state_;
  const test::scratch_folder folder_;
  int listener_ = -1;
  bool answered_ = false;  // used by the thread
  std::thread thread_;
};

}  // namespace

TEST_CASE("a shutdown of the machine is detected from systemd") {
  CHECK(tools::machine_stops(manager{"stopping"}.address()));
  CHECK_FALSE(tools::machine_stops(manager{"running"}.address()));
}

TEST_CASE("a machine without systemd is not known to stop") {
  const test::scratch_folder folder;
  CHECK_FALSE(tools::machine_stops("unix:path=" + (folder.path() / "none").string()));
  CHECK_FALSE(tools::machine_stops("nonsense"));
}

TEST_CASE("a process may take as long to end as its pods may") {
  config::kubelet_config from;
  CHECK(tools::shutdown_limit(from) == 0ms);
  from.shutdown_grace_period = 30s;
  CHECK(tools::shutdown_limit(from) == 30s);
}
