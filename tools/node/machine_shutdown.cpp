#include "tools/node/machine_shutdown.hpp"

#include <fmt/format.h>
#include <spdlog/spdlog.h>
#include <systemd/sd-bus.h>
#include <systemd/sd-daemon.h>

#include <cstdlib>
#include <future>
#include <memory>
#include <string_view>

#include "actors/kubelet/node/kubelet.hpp"
#include "config/node_config.hpp"
#include "tools/defaults.hpp"

namespace troupe::tools {

namespace {

struct close_bus {
  void operator()(sd_bus* bus) const { ::sd_bus_close_unref(bus); }
};
struct free_text {
  void operator()(char* text) const { ::free(text); }
};

}  // namespace

bool machine_stops(const std::string& manager) {
  sd_bus* made = nullptr;
  if (::sd_bus_new(&made) < 0) return false;
  const std::unique_ptr<sd_bus, close_bus> bus{made};
  constexpr std::chrono::microseconds limit{defaults::systemd_wait};
  if (::sd_bus_set_address(made, manager.c_str()) < 0 || ::sd_bus_start(made) < 0 ||
      ::sd_bus_set_method_call_timeout(made, static_cast<std::uint64_t>(limit.count())) < 0)
    return false;
  char* text = nullptr;
  if (::sd_bus_get_property_string(made, "org.freedesktop.systemd1", "/org/freedesktop/systemd1",
                                   "org.freedesktop.systemd1.Manager", "SystemState", nullptr,
                                   &text) < 0)
    return false;
  const std::unique_ptr<char, free_text> state{text};
  return std::string_view{state.get()} == "stopping";
}

std::chrono::milliseconds shutdown_limit(const config::kubelet_config& of) {
  return of.shutdown_grace_period;
}

void shut_down_with_machine(const config::kubelet_config& of, node_parts& parts) {
  const auto limit = shutdown_limit(of);
  if (limit.count() == 0 || !machine_stops()) return;
  const std::chrono::microseconds wanted = limit + defaults::stop_limit;
  ::sd_notify(0, fmt::format("EXTEND_TIMEOUT_USEC={}", wanted.count()).c_str());
  parts.shut_down();
}

void end_pods_at_shutdown(runtime::actor_system& system, const config::kubelet_config& of) {
  const auto kubelet = system.actors().find("kubelet", of.node_name);
  if (!kubelet) return;
  const auto over = std::make_shared<std::promise<bool>>();
  auto ended = over->get_future();
  actors::shut_down_pods(system, kubelet, shutdown_limit(of),
                         [over](bool done) { over->set_value(done); });
  if (!ended.get()) spdlog::warn("not all pods have ended before the machine stops");
}

}  // namespace troupe::tools
