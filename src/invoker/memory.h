// What a thread has freed and its allocator keeps for it.
#pragma once

namespace sluice::invoker {

// Gives the freed memory of the calling thread back to the system. It walks the thread's heap: for threads that have
// nothing to do, not for those that serve.
void give_back_memory();

}  // namespace sluice::invoker
