#include "tools/join/control_plane_join.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <system_error>
#include <utility>

#include "actors/tokens/bootstrap_token.hpp"
#include "server/credentials/base64url.hpp"
#include "server/credentials/private_file.hpp"
#include "server/credentials/sealed_text.hpp"
#include "server/credentials/x509.hpp"
#include "server/join/control_plane_bundle.hpp"
#include "server/join/flat_json.hpp"
#include "server/join/join_authorizer.hpp"
#include "tools/join/comma_list.hpp"
#include "tools/node/node_folder.hpp"

namespace troupe::tools {

namespace fs = std::filesystem;

namespace {

using result = tl::expected<void, std::string>;
using server::control_plane_bundle;

constexpr const char* marker = "control-plane.json";

result folder_error(const fs::path& folder, const std::string& reason) {
  return tl::make_unexpected(
      fmt::format("data dir {}: {}; name another with --data-dir", folder.string(), reason));
}

// Removes the files of an interrupted attempt.
void remove_unfinished(const fs::path& data_dir) {
  std::error_code ignored;
  if (!fs::exists(data_dir / "joining", ignored)) return;
  if (!fs::exists(data_dir / "pki", ignored))
    for (const auto* each : {"etcd", marker})
      fs::remove_all(data_dir / each, ignored);
  fs::remove_all(data_dir / "joining", ignored);
}

result check_folder(const fs::path& data_dir) {
  std::error_code ignored;
  if (fs::exists(join_dir(data_dir), ignored))
    return folder_error(data_dir, "has joined a cluster as a node (troupe leave removes it)");
  if (fs::exists(data_dir / "pki", ignored) || fs::exists(data_dir / "store", ignored))
    return folder_error(data_dir, "belongs to a control plane already");
  return {};
}

tl::expected<control_plane_bundle, std::string> opened(const std::string& answer,
                                                       const control_plane_join_options& options,
                                                       const std::string& address) {
  const auto fail = [&](const std::string& reason) {
    return tl::make_unexpected(address + ": " + reason);
  };
  const auto fields = server::read_flat_json(answer);
  if (!fields) return fail("the server's response: " + fields.error());
  const auto sealed = server::from_base64url(server::member(*fields, "bundle"));
  if (!sealed) return fail("the server's response contains no bundle");
  const auto id = actors::split_token(options.line.token)->id;
  const auto text = server::unseal(*sealed, options.certificate_key, id);
  if (!text)
    return fail(
        "--certificate-key does not belong to this token: use the whole command that `troupe token "
        "create --control-plane` prints");
  auto read = server::read_bundle(*text, options.line.authority_hash);
  if (!read) return fail("the keys of the cluster: " + read.error());
  return read;
}

tl::expected<control_plane_bundle, std::string> fetch(const control_plane_join_options& options,
                                                      const std::string& node) {
  const auto body = server::write_flat_json({{"nodeName", node}});
  return at_first_server<control_plane_bundle>(
      options.line,
      [&](const join_line& at, const bootstrap_client& contact,
          bootstrap_client::time_point) -> tl::expected<control_plane_bundle, std::string> {
        const auto answer = contact.post(std::string{server::control_planes_path}, at.token, body);
        if (!answer) return tl::make_unexpected(answer.error());
        if (answer->status != 200) return tl::make_unexpected(join_refusal(at, *answer));
        return opened(answer->body, options, at.address);
      });
}

result write_all(const fs::path& folder,
                 const std::vector<std::pair<std::string, std::string>>& all) {
  if (auto made = server::make_private_directory(folder); !made) return made;
  for (const auto& [name, text] : all)
    if (auto written = server::write_private_file(folder / name, text); !written) return written;
  return {};
}

std::string joined(const std::vector<std::string>& all) {
  return fmt::format("{}", fmt::join(all, ","));
}

result keep(const fs::path& data_dir, const control_plane_bundle& bundle) {
  const auto joining = data_dir / "joining";
  std::vector<std::pair<std::string, std::string>> etcd;
  for (const auto& [name, text] : {std::pair{"ca.crt", &bundle.etcd_authority},
                                   {"client.crt", &bundle.etcd_certificate},
                                   {"client.key", &bundle.etcd_key}})
    if (!text->empty()) etcd.emplace_back(name, *text);
  if (auto done = write_all(joining / "pki", {bundle.pki.begin(), bundle.pki.end()}); !done)
    return done;
  if (auto done = write_all(data_dir / "etcd", etcd); !done) return done;
  if (auto done = write_all(
          data_dir,
          {{marker, server::write_flat_json({{"etcdEndpoints", joined(bundle.etcd_endpoints)}})}});
      !done)
    return done;
  std::error_code problem;
  fs::rename(joining / "pki", data_dir / "pki", problem);
  if (problem) return tl::make_unexpected((data_dir / "pki").string() + ": " + problem.message());
  fs::remove_all(joining, problem);
  return {};
}

result complete(config::node_config& config) {
  const auto file = config.data_dir / marker;
  const auto text = server::read_private_file(file);
  if (!text) return tl::make_unexpected(text.error());
  const auto fields = server::read_flat_json(text->value_or(""));
  if (!fields) return tl::make_unexpected(file.string() + ": " + fields.error());
  config.store.store = config::store_kind::etcd;
  auto& etcd = config.etcd;
  if (etcd.endpoints.empty())
    etcd.endpoints = split_commas(server::member(*fields, "etcdEndpoints"));
  if (!etcd.ca.empty() || !etcd.cert.empty() || !etcd.key.empty()) return {};
  std::error_code ignored;
  for (const auto& [into, name] :
       {std::pair{&etcd.ca, "ca.crt"}, {&etcd.cert, "client.crt"}, {&etcd.key, "client.key"}})
    if (const auto path = config.data_dir / "etcd" / name; fs::exists(path, ignored)) *into = path;
  return {};
}

// Refuses to join another cluster than that of the existing files.
result check_same_cluster(const fs::path& data_dir, const join_line& line) {
  const auto authority = server::read_private_file(data_dir / "pki" / "ca.crt");
  if (!authority) return tl::make_unexpected(authority.error());
  if (line.authority_hash.empty() ||
      server::x509::key_hash(authority->value_or("")) == line.authority_hash)
    return {};
  return folder_error(data_dir, "is that of a control plane of another cluster");
}

}  // namespace

bool has_joined_as_control_plane(const fs::path& data_dir) {
  std::error_code ignored;
  return fs::exists(data_dir / marker, ignored) && fs::exists(data_dir / "pki", ignored);
}

result join_as_control_plane(config::node_config& config,
                             const control_plane_join_options& options) {
  const auto& data_dir = config.data_dir;
  const auto folder = node_folder::lock_data_dir(data_dir);
  if (!folder) return tl::make_unexpected(folder.error());
  remove_unfinished(data_dir);
  if (has_joined_as_control_plane(data_dir)) {
    if (auto same = check_same_cluster(data_dir, options.line); !same) return same;
    return complete(config);
  }
  if (auto free = check_folder(data_dir); !free) return free;
  if (auto good = check_join_line(options.line); !good) return good;
  if (!server::is_sealing_key(options.certificate_key))
    return tl::make_unexpected(
        std::string{"--certificate-key: expected 64 hexadecimal digits, as `troupe token create "
                    "--control-plane` prints them"});
  const auto bundle = fetch(options, config.kubelet.node_name);
  if (!bundle) return tl::make_unexpected(bundle.error());
  if (auto kept = keep(data_dir, *bundle); !kept) {
    remove_unfinished(data_dir);
    return kept;
  }
  return complete(config);
}

}  // namespace troupe::tools
