// The removal of all unused images on request, because the disk of the pods is short.
#include <catch2/catch.hpp>
#include <chrono>
#include <filesystem>
#include <future>
#include <memory>

#include "actors/kubelet/cri/cri_server.hpp"
#include "actors/kubelet/runtimes/cri/cri_runtime.hpp"
#include "support/programs/eventually.hpp"
#include "support/scratch_folder.hpp"

namespace troupe::test {

using namespace actors;

TEST_CASE("unused images are removed to free the disk, unless they are on another one",
          "[kubelet]") {
  const scratch_folder folder;
  cri_server server{folder.path() / "socket"};
  for (const auto* id : {"unused", "unused too", "pinned"}) {
    cri::Image image;
    image.set_id(id);
    image.set_pinned(id == std::string_view{"pinned"});
    server.add(image);
  }
  const auto root_dir = folder.path() / "kubelet";
  std::filesystem::create_directories(root_dir);
  cri_runtime_options options{.root_dir = root_dir, .socket = server.socket()};
  options.images.high_percent = 100;
  options.images.smallest_age = std::chrono::milliseconds{0};
  cri_runtime runtime{options};
  const auto free_disk = [&](node_disk of) {
    const auto freed = std::make_shared<std::promise<void>>();
    runtime.free_disk(of, [freed] { freed->set_value(); });
    REQUIRE(freed->get_future().wait_for(std::chrono::minutes{1}) == std::future_status::ready);
  };
  server.store_images_at("/proc");
  free_disk(node_disk::pods);
  CHECK(server.calls("RemoveImage") == 0);
  server.store_images_at(folder.path().string());
  free_disk(node_disk::images);
  CHECK(server.calls("RemoveImage") == 0);
  free_disk(node_disk::pods);
  CHECK(server.calls("RemoveImage") == 2);
  server.store_images_at("/proc");
  free_disk(node_disk::images);
  CHECK(server.calls("RemoveImage") == 4);
}

TEST_CASE("the directory of the images is the one that the runtime names", "[kubelet]") {
  const scratch_folder folder;
  cri_server server{folder.path() / "socket"};
  server.store_images_at("/proc");
  const cri_runtime runtime{{.root_dir = folder.path(), .socket = server.socket()}};
  CHECK(eventually([&] { return runtime.image_directory() == "/proc"; }));
}

}  // namespace troupe::test
