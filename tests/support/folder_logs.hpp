// Logs of containers in a folder: the run with the id …/N of container C is in the file C.N.
#pragma once

#include <filesystem>
#include <fstream>
#include <memory>
#include <string>

#include "actors/kubelet/logs/log_file_stream.hpp"
#include "support/scratch_folder.hpp"

namespace troupe::test {

class folder_logs : public actors::log_source {
 public:
  std::unique_ptr<actors::log_stream> open_log(const actors::log_address& from,
                                               actors::log_query query) override {
    const auto run = from.id.substr(from.id.rfind('/') + 1);
    return std::make_unique<actors::log_file_stream>(path(from.container, run), std::move(query),
                                                     disk_);
  }
  void write(const std::string& container, int run, const std::string& text, int times = 1) const {
    std::ofstream out{path(container, std::to_string(run)), std::ios::app};
    for (int i = 0; i < times; ++i)
      out << "2026-01-02T03:04:05.000000006Z stdout F " << text << '\n';
  }

 private:
  std::string path(const std::string& container, const std::string& run) const {
    return folder_.path() / (container + "." + run);
  }

  scratch_folder folder_;
  const std::shared_ptr<actors::lazy_pool> disk_ =
      std::make_shared<actors::lazy_pool>("logs", 1, 100);
};

}  // namespace troupe::test
