#include "gateway/companion.h"

#include <fcntl.h>

#include <boost/asio/post.hpp>

namespace sluice::gateway {

using boost::system::error_code;

CompanionWork::CompanionWork(boost::asio::io_context& context, const Companion& companion)
    : companion_(companion), descriptor_(context) {}

void CompanionWork::begin() {
  error_code ignored;
  // Closed with the loop; the companion's stays open.
  descriptor_.assign(::fcntl(companion_.descriptor, F_DUPFD_CLOEXEC, 0), ignored);
  companion_.lend([this] { soon(); });
  watch();
}

void CompanionWork::end() {
  error_code ignored;
  descriptor_.close(ignored);
}

void CompanionWork::watch() {
  descriptor_.async_wait(decltype(descriptor_)::wait_read, [this](error_code error) {
    if (error) return;
    companion_.work();
    watch();
  });
}

// After the handlers that are ready now, so that requests that came together are decided together.
void CompanionWork::soon() {
  if (queued_) return;
  queued_ = true;
  boost::asio::post(descriptor_.get_executor(), [this] {
    queued_ = false;
    companion_.work();
  });
}

}  // namespace sluice::gateway
