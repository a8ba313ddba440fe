// The settings that jemalloc reads at start (docs/decisions/0012-allocator.md). Few arenas keep an
// idle node small, as do pages of the usual size where the kernel gives huge ones to all; its
// background thread returns memory after a burst.
extern "C" {
extern const char* malloc_conf;
const char* malloc_conf = "narenas:4,background_thread:true,thp:never";
}
