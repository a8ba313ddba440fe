#include "persistence/store.hpp"

#include "persistence/local_store.hpp"
#include "persistence/memory_engine.hpp"
#include "persistence/rocks_engine.hpp"

namespace troupe::persistence {

expected<std::unique_ptr<store>> store::open(store_options options) {
  auto factory = options.directory.empty() ? memory_engine_on(std::make_shared<memory_disk>())
                                           : rocks_engine_in(options.directory);
  return local_store::open(std::move(options), std::move(factory));
}

}  // namespace troupe::persistence
