#include "config/load.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>

extern char** environ;

namespace troupe::config {

namespace {

constexpr std::string_view default_source = "default";
constexpr std::string_view fallback_name = "localhost";
constexpr std::size_t max_name_bytes = 63;

class loader {
 public:
  void take(reading source) {
    append(std::move(source.problems));
    for (const auto& [row, text, place] : source.assignments) {
      if (const auto parsed = read(*row, text)) {
        row->at.set(result_.config, *parsed);
        result_.sources[std::string(row->name)] = place;
      } else {
        problems_.push_back(refusal(*row, place, shown(text)));
      }
    }
  }

  tl::expected<loaded_config, problems> finish(const inputs& from, std::span<const setting> rows) {
    auto& kubelet = result_.config.kubelet;
    if (kubelet.node_name.empty()) kubelet.node_name = node_name_of(from.host_name);
    if (kubelet.root_dir.empty()) kubelet.root_dir = result_.config.data_dir / "kubelet";
    for (const auto& row : rows)
      result_.sources.emplace(row.name, default_source);
    check_relations();
    if (!problems_.empty()) return tl::make_unexpected(std::move(problems_));
    return std::move(result_);
  }

 private:
  // Checks relations between settings.
  void check_relations() {
    const auto& kubelet = result_.config.kubelet;
    if (kubelet.lease_renew >= kubelet.lease_duration) {
      blame("kubelet.lease_renew", "expected a duration shorter than kubelet.leaseDuration, " +
                                       print(kubelet.lease_duration) + "; found " +
                                       print(kubelet.lease_renew));
    }
    if (kubelet.runtime != pod_runtime::simulated &&
        kubelet.simulated_nodes != defaults::simulated_nodes) {
      blame("kubelet.simulated_nodes",
            "only the simulated runtime has simulated nodes; add --runtime simulated");
    }
    if (kubelet.image_gc_low_threshold >= kubelet.image_gc_high_threshold)
      blame("kubelet.image_gc_low_threshold",
            "expected a percentage below kubelet.imageGcHighThreshold, " +
                std::to_string(kubelet.image_gc_high_threshold) + "; found " +
                std::to_string(kubelet.image_gc_low_threshold));
    if (kubelet.image_maximum_gc_age.count() != 0 &&
        kubelet.image_maximum_gc_age <= kubelet.image_minimum_gc_age)
      blame("kubelet.image_maximum_gc_age",
            "expected a duration longer than kubelet.imageMinimumGcAge, " +
                print(kubelet.image_minimum_gc_age) + ", or 0; found " +
                print(kubelet.image_maximum_gc_age));
    const auto& endpoint = kubelet.cri_endpoint.string();
    if (!endpoint.starts_with("unix:///") && !endpoint.starts_with('/'))
      blame("kubelet.cri_endpoint",
            "expected a socket, as unix:///run/containerd/containerd.sock; found \"" + endpoint +
                "\"");
    const auto& etcd = result_.config.etcd;
    if (result_.config.store.store == store_kind::etcd && etcd.endpoints.empty())
      blame("etcd.endpoints", "expected the members of etcd, as https://10.0.0.1:2379; found none");
    if (etcd.cert.empty() != etcd.key.empty())
      blame("etcd.cert", "a certificate and its key come together: etcd.cert and etcd.key");
    const auto& server = result_.config.server;
    if (server.listen == server.legacy_listen && server.listen.port != 0) {
      blame("server.legacy_listen",
            "expected another address than server.listen, " + print(server.listen));
    }
  }

  std::string_view source(std::string_view name) const {
    const auto it = result_.sources.find(name);
    return it == result_.sources.end() ? default_source : std::string_view(it->second);
  }

  void blame(std::string_view name, const std::string& problem) {
    const setting row{.name = name, .at = {}, .about = {}};
    problems_.push_back(std::string(source(name)) + ": " + yaml_name(row) + ": " + problem);
  }

  void append(problems more) { std::move(more.begin(), more.end(), std::back_inserter(problems_)); }

  loaded_config result_;
  problems problems_;
};

std::filesystem::path file_of(const inputs& from) {
  if (!from.file.empty()) return from.file;
  const auto& variables = from.environment;
  const auto it = std::find_if(variables.begin(), variables.end(),
                               [](const auto& v) { return v.first == config_variable; });
  return it == variables.end() ? std::filesystem::path{} : std::filesystem::path{it->second};
}

}  // namespace

tl::expected<loaded_config, problems> load(const inputs& from, std::span<const setting> rows) {
  loader result;
  if (const auto file = file_of(from); !file.empty()) result.take(read_file(file, rows));
  result.take(read_environment(from.environment, rows));
  result.take(read_flags(from.flags, rows));
  return result.finish(from, rows);
}

inputs process_inputs() {
  inputs result;
  for (char** variable = environ; *variable != nullptr; ++variable) {
    const std::string_view text(*variable);
    const auto equals = text.find('=');
    if (equals == std::string_view::npos) continue;
    result.environment.emplace_back(text.substr(0, equals), text.substr(equals + 1));
  }
  std::array<char, 256> host{};
  if (::gethostname(host.data(), host.size() - 1) == 0) result.host_name = host.data();
  return result;
}

std::string node_name_of(std::string_view host_name) {
  std::string result;
  for (const unsigned char c : host_name.substr(0, max_name_bytes)) {
    const char lower = static_cast<char>(std::tolower(c));
    const bool keep = (lower >= 'a' && lower <= 'z') || (lower >= '0' && lower <= '9');
    const bool after_dot = result.empty() || result.back() == '.';
    if (keep) {
      result += lower;
    } else if (c == '.' && !after_dot) {
      while (result.back() == '-')
        result.pop_back();
      result += '.';
    } else if (c != '.' && !after_dot) {
      result += '-';
    }
  }
  while (!result.empty() && (result.back() == '-' || result.back() == '.'))
    result.pop_back();
  return result.empty() ? std::string(fallback_name) : result;
}

}  // namespace troupe::config
