#pragma once

namespace troupe::actors {

class control_plane;
class event_list;
class follower;

struct bind;
struct commit;
struct committed;
struct evict;
struct record_event;
struct subscribe;
struct watch_event;
struct watch_events;

}  // namespace troupe::actors
