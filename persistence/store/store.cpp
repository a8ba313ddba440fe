#include "persistence/store/store.hpp"

#include "persistence/engine/memory_engine.hpp"
#include "persistence/engine/replica_mark.hpp"
#include "persistence/engine/rocks_engine.hpp"
#include "persistence/open/open_checks.hpp"
#include "persistence/store/local_store.hpp"

namespace troupe::persistence {

expected<std::unique_ptr<store>> store::open(store_options options) {
  if (is_replica(options.directory)) return fail(replica_refusal(options.directory));
  if (auto ended = check_salvage_ended(options.directory); !ended)
    return fail(std::move(ended.error()));
  auto factory = options.directory.empty() ? memory_engine_on(std::make_shared<memory_disk>())
                                           : rocks_engine_in(options.directory);
  return local_store::open(std::move(options), std::move(factory));
}

}  // namespace troupe::persistence
