// Removes images that no container has when the disk that holds them fills up, as
// image_collection.hpp decides. What fails is looked at again in the next round. Belongs to the
// loop's thread.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "actors/kubelet/os/event_loop.hpp"
#include "actors/kubelet/os/job_queue.hpp"
#include "actors/kubelet/runtimes/cri/cri_client.hpp"
#include "actors/kubelet/runtimes/cri/image_collection.hpp"

namespace troupe::actors {

// The image of sandboxes, as the server's verbose Status names it (containerd); empty: it does not.
// Pure.
std::string sandbox_image_of(const cri::StatusResponse& status);
// Where it looks for networks of pods; empty where it does not say.
std::string cni_folder_of(const cri::StatusResponse& status);

class image_collector {
 public:
  image_collector(std::shared_ptr<event_loop> loop, std::shared_ptr<cri_client> client,
                  job_queue& jobs, image_limits limits);

  // Looks every `cri_defaults::image_collection`, beginning now.
  void start();
  // A container is to be made of it.
  void wanted(const std::string& id);

 private:
  // Steps of one round, each after the answer of the one before.
  void ask_sandbox_image();
  void ask_containers(const std::string& sandbox_image);
  void ask_images(std::vector<std::string> used);
  void take(const std::vector<std::string>& used, const cri::ListImagesResponse& listed);
  void ask_disk();
  void collect(const disk_space& disk);

  const std::shared_ptr<event_loop> loop_;
  const std::shared_ptr<cri_client> client_;
  job_queue& jobs_;
  const image_limits limits_;
  std::map<std::string, known_image> images_;  // by id
};

}  // namespace troupe::actors
