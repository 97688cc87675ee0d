#include "invoker/memory.h"

#include <malloc.h>

// There only in programs that link mimalloc in malloc's place.
extern "C" [[gnu::weak]] void mi_collect(bool force);

namespace sluice::invoker {

void give_back_memory() {
  if (mi_collect != nullptr)
    mi_collect(true);
  else
    ::malloc_trim(0);
}

}  // namespace sluice::invoker
