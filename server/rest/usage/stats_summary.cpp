#include <string_view>

#include "api/codec/document_writer.hpp"
#include "server/rest/usage/measured_node.hpp"

namespace troupe::server {
namespace {

using actors::resource_usage;
using actors::supply;

class summary_writer {
 public:
  summary_writer(const measured_node& of, bool only_cpu_and_memory)
      : of_{of},
        disks_{!only_cpu_and_memory},
        time_{api::format_time(measured_at_ms(of) / 1'000)} {}

  std::string text() {
    out_.object([&] {
      write_node();
      out_.list("pods", [&] {
        for (const auto& each : measured_pods(of_))
          out_.object([&] { write_pod(each); });
      });
    });
    return out_.take();
  }

 private:
  void write_node() {
    const auto& supplies = of_.usage.supplies;
    out_.object("node", [&] {
      out_.field("nodeName", of_.node.metadata().name());
      out_.field("startTime", api::format_time(started_at_seconds(of_)));
      if (of_.usage.machine) write_figure(*of_.usage.machine, supplies.memory);
      if (!disks_) return;
      if (supplies.disk.all > 0) write_disks(supplies);
      if (supplies.pids.all > 0)
        timed("rlimit", [&] {
          out_.number("maxpid", supplies.pids.all);
          out_.number("curproc", supplies.pids.all - supplies.pids.left);
        });
    });
  }

  void write_pod(const measured_pod& from) {
    const auto& meta = from.pod->metadata();
    out_.object("podRef", [&] {
      out_.field("name", meta.name());
      out_.field("namespace", meta.namespace_());
      out_.field("uid", meta.uid());
    });
    out_.field("startTime", api::format_time(from.pod->status().start_time().seconds()));
    out_.list("containers", [&] {
      for (const auto& each : from.containers)
        out_.object([&] {
          out_.field("name", each.status->name());
          const auto started = each.status->state().running().started_at().seconds();
          out_.field("startTime", api::format_time(started));
          write_figure(each.figure, {});
        });
    });
    write_figure(from.sum, {});
    if (disks_ && from.network != nullptr) write_network(*from.network);
  }

  void write_network(const actors::network_counters& from) {
    timed("network", [&] {
      write_device(from);
      out_.list("interfaces", [&] { out_.object([&] { write_device(from); }); });
    });
  }

  void write_device(const actors::network_counters& from) {
    out_.field("name", pod_device);
    out_.number("rxBytes", from.rx_bytes);
    out_.number("rxErrors", from.rx_errors);
    out_.number("txBytes", from.tx_bytes);
    out_.number("txErrors", from.tx_errors);
  }

  void write_figure(const resource_usage& figure, const supply& memory) {
    timed("cpu", [&] {
      out_.number("usageNanoCores", figure.cpu_nano);
      out_.number("usageCoreNanoSeconds", figure.cpu_ns);
    });
    timed("memory", [&] {
      if (memory.all > 0) out_.number("availableBytes", memory.left);
      if (figure.all_memory_bytes > 0) out_.number("usageBytes", figure.all_memory_bytes);
      out_.number("workingSetBytes", figure.memory_bytes);
      if (figure.rss_bytes > 0) out_.number("rssBytes", figure.rss_bytes);
    });
  }

  void write_disks(const actors::node_supplies& of) {
    write_disk("fs", of.disk, of.inodes);
    out_.object("runtime", [&] {
      if (of.images.all > 0)
        write_disk("imageFs", of.images, of.image_inodes);
      else
        write_disk("imageFs", of.disk, of.inodes);
    });
  }

  void write_disk(std::string_view name, const supply& disk, const supply& inodes) {
    timed(name, [&] {
      out_.number("availableBytes", disk.left);
      out_.number("capacityBytes", disk.all);
      out_.number("usedBytes", disk.all - disk.left);
      out_.number("inodesFree", inodes.left);
      out_.number("inodes", inodes.all);
      out_.number("inodesUsed", inodes.all - inodes.left);
    });
  }

  // An object with the time of the reading.
  template <class F>
  void timed(std::string_view name, F fill) {
    out_.object(name, [&] {
      out_.field("time", time_);
      fill();
    });
  }

  const measured_node& of_;
  const bool disks_;
  const std::string time_;
  api::document_writer out_;
};

}  // namespace

std::string stats_summary(const measured_node& of, bool only_cpu_and_memory) {
  return summary_writer{of, only_cpu_and_memory}.text();
}

}  // namespace troupe::server
