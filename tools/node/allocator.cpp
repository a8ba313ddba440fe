// What jemalloc reads when the program starts (docs/decisions/0012-allocator.md). Few arenas keep
// an idle node small; its own thread gives memory back when a burst is over.
extern "C" {
extern const char* malloc_conf;
const char* malloc_conf = "narenas:4,background_thread:true";
}
