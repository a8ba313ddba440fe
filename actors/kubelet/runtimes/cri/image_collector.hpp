// Removes unused images when the disk that stores them fills up, and old ones, as
// image_collection.hpp decides; all of them on request. A failure is retried in the next round.
// Belongs to the loop's thread.
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "actors/kubelet/os/event_loop.hpp"
#include "actors/kubelet/os/job_queue.hpp"
#include "actors/kubelet/runtime/container_runtime.hpp"
#include "actors/kubelet/runtimes/cri/cri_client.hpp"
#include "actors/kubelet/runtimes/cri/image_collection.hpp"
#include "actors/kubelet/runtimes/cri/sandbox_config.hpp"

namespace troupe::actors {

// The image of sandboxes, from the server's verbose Status (containerd); empty if not given.
// Pure.
std::string sandbox_image_of(const cri::StatusResponse& status);
// The folder of pod network configuration (CNI); empty if not given.
std::string cni_folder_of(const cri::StatusResponse& status);
// The driver of the control groups; nothing if not given.
std::optional<group_driver> group_driver_of(const cri::StatusResponse& status);

// The images for the node's status: the largest ones, with few names of each (kubernetes:
// nodestatus/setters.go, Images). Pure.
std::vector<stored_image> images_to_show(const cri::ListImagesResponse& listed);

class image_collector {
 public:
  // `root_dir`: the kubelet's. `ended` is called after each round: why the disk is still too full,
  // empty if it is not.
  image_collector(std::shared_ptr<event_loop> loop, std::shared_ptr<cri_client> client,
                  job_queue& jobs, std::filesystem::path root_dir, image_limits limits,
                  problem_observer ended);

  // Unless collection is off: starts a round now and every `cri_defaults::image_collection`.
  void start();
  // A container will be created from this image.
  void wanted(const std::string& id);
  // Removes all unused images, except new ones, if they are on that disk: the one of `root_dir`, or
  // one of their own. Answers when that has ended.
  void free_disk(node_disk of, std::function<void()> done);
  // Calls `next` with the path of the images; empty if the server gives none.
  void ask_path(const std::function<void(const std::string& path)>& next);

 private:
  // Steps of one round, each after the answer of the previous one. The images are known when
  // `next` is called with true.
  using listed_observer = std::function<void(bool listed)>;
  void list(const listed_observer& next);
  void ask_containers(const std::string& sandbox_image, const listed_observer& next);
  void ask_images(std::vector<std::string> used, const listed_observer& next);
  void take(const std::vector<std::string>& used, const cri::ListImagesResponse& listed);
  void ask_disk();
  void collect(const disk_space& disk);
  void remove_unused(const std::function<void()>& done);
  std::vector<known_image> all_images() const;
  void remove(const std::string& id, const char* reason, const std::function<void()>& done = {});

  const std::shared_ptr<event_loop> loop_;
  const std::shared_ptr<cri_client> client_;
  job_queue& jobs_;
  const std::filesystem::path root_dir_;
  const image_limits limits_;
  const problem_observer ended_;
  const event_loop::clock::time_point began_ = event_loop::clock::now();
  std::map<std::string, known_image> images_;  // by id
};

}  // namespace troupe::actors
