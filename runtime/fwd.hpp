#pragma once

namespace troupe::runtime {

class actor;
class actor_ref;
class behavior;
class clock;
class directory;
class message;
class simulation;
class actor_system;
class timer;
class worker_pool;

struct actor_info;
struct cause;

}  // namespace troupe::runtime
