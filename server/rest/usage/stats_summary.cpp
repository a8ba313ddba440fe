#include <rapidjson/stringbuffer.h>
#include <rapidjson/writer.h>

#include <string_view>

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
    out_.StartObject();
    key("node");
    write_node();
    key("pods");
    out_.StartArray();
    for (const auto& each : measured_pods(of_))
      write_pod(each);
    out_.EndArray();
    out_.EndObject();
    return {text_.GetString(), text_.GetSize()};
  }

 private:
  void write_node() {
    const auto& supplies = of_.usage.supplies;
    out_.StartObject();
    member("nodeName", of_.node.metadata().name());
    member("startTime", api::format_time(started_at_seconds(of_)));
    if (of_.usage.machine) write_figure(*of_.usage.machine, supplies.memory);
    if (disks_ && supplies.disk.all > 0) {
      write_disk("fs", supplies.disk, supplies.inodes);
      key("runtime");
      out_.StartObject();
      if (supplies.images.all > 0)
        write_disk("imageFs", supplies.images, supplies.image_inodes);
      else
        write_disk("imageFs", supplies.disk, supplies.inodes);
      out_.EndObject();
    }
    if (disks_ && supplies.pids.all > 0) {
      begin("rlimit");
      member("maxpid", supplies.pids.all);
      member("curproc", supplies.pids.all - supplies.pids.left);
      out_.EndObject();
    }
    out_.EndObject();
  }

  void write_pod(const measured_pod& from) {
    const auto& meta = from.pod->metadata();
    out_.StartObject();
    key("podRef");
    out_.StartObject();
    member("name", meta.name());
    member("namespace", meta.namespace_());
    member("uid", meta.uid());
    out_.EndObject();
    member("startTime", api::format_time(from.pod->status().start_time().seconds()));
    key("containers");
    out_.StartArray();
    for (const auto& each : from.containers) {
      out_.StartObject();
      member("name", each.status->name());
      const auto started = each.status->state().running().started_at().seconds();
      member("startTime", api::format_time(started));
      write_figure(each.figure, {});
      out_.EndObject();
    }
    out_.EndArray();
    write_figure(from.sum, {});
    if (disks_ && from.network != nullptr) write_network(*from.network);
    out_.EndObject();
  }

  void write_network(const actors::network_counters& from) {
    begin("network");
    write_device(from);
    key("interfaces");
    out_.StartArray();
    out_.StartObject();
    write_device(from);
    out_.EndObject();
    out_.EndArray();
    out_.EndObject();
  }

  void write_device(const actors::network_counters& from) {
    member("name", std::string{pod_device});
    member("rxBytes", from.rx_bytes);
    member("rxErrors", from.rx_errors);
    member("txBytes", from.tx_bytes);
    member("txErrors", from.tx_errors);
  }

  void write_figure(const resource_usage& figure, const supply& memory) {
    begin("cpu");
    member("usageNanoCores", figure.cpu_nano);
    member("usageCoreNanoSeconds", figure.cpu_ns);
    out_.EndObject();
    begin("memory");
    if (memory.all > 0) member("availableBytes", memory.left);
    if (figure.all_memory_bytes > 0) member("usageBytes", figure.all_memory_bytes);
    member("workingSetBytes", figure.memory_bytes);
    if (figure.rss_bytes > 0) member("rssBytes", figure.rss_bytes);
    out_.EndObject();
  }

  void write_disk(std::string_view name, const supply& disk, const supply& inodes) {
    begin(name);
    member("availableBytes", disk.left);
    member("capacityBytes", disk.all);
    member("usedBytes", disk.all - disk.left);
    member("inodesFree", inodes.left);
    member("inodes", inodes.all);
    member("inodesUsed", inodes.all - inodes.left);
    out_.EndObject();
  }

  void begin(std::string_view name) {
    key(name);
    out_.StartObject();
    member("time", time_);
  }
  void key(std::string_view name) {
    out_.Key(name.data(), static_cast<rapidjson::SizeType>(name.size()));
  }
  void member(std::string_view name, const std::string& value) {
    key(name);
    out_.String(value.data(), static_cast<rapidjson::SizeType>(value.size()));
  }
  void member(std::string_view name, std::uint64_t value) {
    key(name);
    out_.Uint64(value);
  }
  void member(std::string_view name, std::int64_t value) {
    key(name);
    out_.Int64(value);
  }

  const measured_node& of_;
  const bool disks_;
  const std::string time_;
  rapidjson::StringBuffer text_;
  rapidjson::Writer<rapidjson::StringBuffer> out_{text_};
};

}  // namespace

std::string stats_summary(const measured_node& of, bool only_cpu_and_memory) {
  return summary_writer{of, only_cpu_and_memory}.text();
}

}  // namespace troupe::server
