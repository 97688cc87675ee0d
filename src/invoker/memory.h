// What a thread has freed and its allocator keeps for it.
#pragma once

namespace sluice::invoker {

// Gives what the calling thread has freed back to the system. It walks the thread's heap (with malloc's own allocator
// all heaps): for threads that have nothing to do, not for those that serve.
void give_back_memory();

}  // namespace sluice::invoker
