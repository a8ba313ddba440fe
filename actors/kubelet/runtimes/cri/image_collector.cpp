#include "actors/kubelet/runtimes/cri/image_collector.hpp"

#include <google/protobuf/struct.pb.h>
#include <google/protobuf/util/json_util.h>

#include <algorithm>
#include <limits>
#include <tuple>

#include "actors/core/log.hpp"
#include "actors/kubelet/os/disk.hpp"
#include "actors/kubelet/runtimes/cri/image_name.hpp"

namespace troupe::actors {

namespace {

bool names(const std::string& text, const cri::Image& image) {
  const auto among = [&](const auto& all) {
    return std::find(all.begin(), all.end(), text) != all.end();
  };
  return text == image.id() || among(image.repo_tags()) || among(image.repo_digests());
}

// containerd's verbose status contains its configuration; that of other servers does not.
google::protobuf::Struct config_of(const cri::StatusResponse& status) {
  google::protobuf::Struct document;
  const auto config = status.info().find("config");
  if (config == status.info().end() ||
      !google::protobuf::util::JsonStringToMessage(config->second, &document).ok())
    return {};
  return document;
}

// The value at the end of a path of names; an empty one if there is none.
google::protobuf::Value value_at(google::protobuf::Struct in,
                                 const std::vector<std::string>& path) {
  google::protobuf::Value value;
  *value.mutable_struct_value() = std::move(in);
  for (const auto& name : path) {
    const auto& fields = value.struct_value().fields();
    const auto found = fields.find(name);
    if (found == fields.end()) return {};
    value = google::protobuf::Value{found->second};
  }
  return value;
}

}  // namespace

std::string sandbox_image_of(const cri::StatusResponse& status) {
  return value_at(config_of(status), {"sandboxImage"}).string_value();
}

std::string cni_folder_of(const cri::StatusResponse& status) {
  return value_at(config_of(status), {"cni", "confDir"}).string_value();
}

std::optional<group_driver> group_driver_of(const cri::StatusResponse& status) {
  const auto config = config_of(status);
  if (!config.fields().contains("containerd")) return std::nullopt;
  const auto name = value_at(config, {"containerd", "defaultRuntimeName"}).string_value();
  const bool systemd =
      value_at(config, {"systemdCgroup"}).bool_value() ||
      value_at(config, {"containerd", "runtimes", name, "options", "SystemdCgroup"}).bool_value();
  return systemd ? group_driver::systemd : group_driver::cgroupfs;
}

std::vector<stored_image> images_to_show(const cri::ListImagesResponse& listed) {
  std::vector<stored_image> all;
  for (const auto& each : listed.images()) {
    auto& image = all.emplace_back();
    image.size_bytes = static_cast<std::int64_t>(each.size());
    for (const auto* names : {&each.repo_digests(), &each.repo_tags()})
      image.names.insert(image.names.end(), names->begin(), names->end());
    if (image.names.size() > cri_defaults::names_of_image)
      image.names.resize(cri_defaults::names_of_image);
  }
  std::erase_if(all, [](const auto& each) { return each.names.empty(); });
  // Also by name: the order of the runtime's answer is no change of the Node.
  std::sort(all.begin(), all.end(), [](const auto& a, const auto& b) {
    return std::tie(b.size_bytes, a.names) < std::tie(a.size_bytes, b.names);
  });
  if (all.size() > cri_defaults::images_of_node) all.resize(cri_defaults::images_of_node);
  return all;
}

image_collector::image_collector(std::shared_ptr<event_loop> loop,
                                 std::shared_ptr<cri_client> client, job_queue& jobs,
                                 std::filesystem::path root_dir, image_limits limits,
                                 problem_observer ended)
    : loop_{std::move(loop)},
      client_{std::move(client)},
      jobs_{jobs},
      root_dir_{std::move(root_dir)},
      limits_{limits},
      ended_{std::move(ended)} {}

void image_collector::start() {
  if (limits_.high_percent == 100 && limits_.longest_age.count() == 0) return;
  list([this](bool listed) {
    if (listed) ask_disk();
  });
  loop_->after(cri_defaults::image_collection, [this] { start(); });
}

void image_collector::wanted(const std::string& id) {
  auto& image = images_[id];
  image.id = id;
  image.first_seen = event_loop::clock::now();
}

// Older servers do not pin the image of sandboxes, and no container uses it.
void image_collector::list(const listed_observer& next) {
  cri::StatusRequest ask;
  ask.set_verbose(true);
  client_->runtime<cri::StatusResponse>("Status", ask, [this, next](const auto& status) {
    if (!status) return next(false);
    ask_containers(sandbox_image_of(*status), next);
  });
}

// Includes containers of other kubelets: the images are shared.
void image_collector::ask_containers(const std::string& sandbox_image,
                                     const listed_observer& next) {
  client_->runtime<cri::ListContainersResponse>(
      "ListContainers", cri::ListContainersRequest{},
      [this, sandbox_image, next](const auto& listed) {
        if (!listed) return next(false);
        std::vector<std::string> used;
        if (!sandbox_image.empty())
          used.push_back(complete_image(sandbox_image).value_or(sandbox_image));
        for (const auto& each : listed->containers()) {
          used.push_back(each.image_ref());
          used.push_back(each.image_id());
          used.push_back(each.image().image());
        }
        ask_images(std::move(used), next);
      });
}

void image_collector::ask_images(std::vector<std::string> used, const listed_observer& next) {
  client_->images<cri::ListImagesResponse>(
      "ListImages", cri::ListImagesRequest{},
      [this, used = std::move(used), next](const auto& listed) {
        if (listed) take(used, *listed);
        next(listed.has_value());
      });
}

void image_collector::take(const std::vector<std::string>& used,
                           const cri::ListImagesResponse& listed) {
  const auto now = event_loop::clock::now();
  auto before = std::exchange(images_, {});
  for (const auto& each : listed.images()) {
    const bool in_use =
        std::any_of(used.begin(), used.end(), [&](const auto& text) { return names(text, each); });
    const auto found = before.find(each.id());
    auto& image = images_[each.id()];
    if (found != before.end())
      image = found->second;
    else
      image.first_seen = now;
    image.id = each.id();
    image.size_bytes = static_cast<std::int64_t>(each.size());
    image.kept = in_use || each.pinned();
    if (in_use) image.last_used = now;
  }
}

void image_collector::ask_path(const std::function<void(const std::string& path)>& next) {
  client_->images<cri::ImageFsInfoResponse>(
      "ImageFsInfo", cri::Nothing{}, [next](const auto& answer) {
        next(answer && !answer->image_filesystems().empty()
                 ? answer->image_filesystems(0).fs_id().mountpoint()
                 : std::string{});
      });
}

void image_collector::ask_disk() {
  ask_path([this](const std::string& path) {
    if (path.empty()) return;
    const auto look = [this, path] {
      const auto disk = read_disk(path);
      if (!disk) return log().warn("kubelet: {}, where images are, cannot be looked at", path);
      loop_->defer([this, space = disk_space{disk->bytes, disk->bytes_left}] { collect(space); });
    };
    jobs_.post(look);
  });
}

void image_collector::free_disk(node_disk of, std::function<void()> done) {
  ask_path([this, of, done](const std::string& path) {
    const auto look = [this, of, path, done] {
      const auto apart = on_other_disk(path, root_dir_);
      if (!apart || *apart != (of == node_disk::images)) return done();
      loop_->defer([this, done] {
        list([this, done](bool listed) { listed ? remove_unused(done) : done(); });
      });
    };
    if (!jobs_.post(look)) done();
  });
}

void image_collector::remove_unused(const std::function<void()>& done) {
  const auto unused = images_to_remove(all_images(), std::numeric_limits<std::int64_t>::max(),
                                       limits_, event_loop::clock::now());
  if (unused.empty()) return done();
  const auto left = std::make_shared<std::size_t>(unused.size());
  for (const auto& each : unused)
    remove(each.id, "the node is low on disk space", [left, done] {
      if (--*left == 0) done();
    });
}

std::vector<known_image> image_collector::all_images() const {
  std::vector<known_image> all;
  for (const auto& [id, each] : images_)
    all.push_back(each);
  return all;
}

void image_collector::collect(const disk_space& disk) {
  const auto now = event_loop::clock::now();
  auto all = all_images();
  for (const auto& old : images_too_old(all, limits_, now, began_)) {
    remove(old.id, "it is unused for too long");
    std::erase_if(all, [&](const auto& each) { return each.id == old.id; });
  }
  const auto bytes = bytes_to_free(disk, limits_);
  std::int64_t freed = 0;
  for (const auto& each : images_to_remove(std::move(all), bytes, limits_, now)) {
    freed += each.size_bytes;
    remove(each.id, "the disk is full");
  }
  const auto problem = freed < bytes ? full_disk_text(disk, freed) : std::string{};
  if (!problem.empty()) log().warn("kubelet: {}", problem);
  ended_(problem);
}

void image_collector::remove(const std::string& id, const char* reason,
                             const std::function<void()>& done) {
  cri::ImageRef image;
  image.mutable_image()->set_image(id);
  client_->images<cri::Nothing>("RemoveImage", image, [id, reason, done](const auto& removed) {
    if (removed)
      log().info("kubelet: image {} is removed: {}", id, reason);
    else
      log().warn("kubelet: image {} cannot be removed: {}", id, removed.error().message);
    if (done) done();
  });
}

}  // namespace troupe::actors
