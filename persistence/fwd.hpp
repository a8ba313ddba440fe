#pragma once

namespace troupe::persistence {

struct error;
struct change;
struct committed;
struct mutation;
struct precondition;
struct store_options;
struct store_stats;
struct transaction;

class engine;
class snapshot;
class store;
class tree_root;

}  // namespace troupe::persistence
