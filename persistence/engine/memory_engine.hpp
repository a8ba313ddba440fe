// The engine of tests and simulations: nothing survives the process, nothing ever fails.
#pragma once

#include <array>
#include <atomic>
#include <map>
#include <memory>
#include <shared_mutex>
#include <string>

#include "persistence/engine/engine.hpp"

namespace troupe::persistence {

// The content of the "disk"; an engine opened on it again finds the data of the previous one.
struct memory_disk {
  using rows = std::map<std::string, std::string, std::less<>>;
  std::array<rows, 4> tables;
  std::array<std::uint64_t, 4> sizes_bytes{};
  revision acknowledged = 0;
  std::atomic<bool> is_behind{false};
  mutable std::shared_mutex mutex;
};

engine_factory memory_engine_on(std::shared_ptr<memory_disk> disk);

}  // namespace troupe::persistence
