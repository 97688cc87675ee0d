// Companion: work of somebody else that the server's first thread does between its connections, so that handing a
// request over and getting its answer wakes no other thread. On one machine that is the scheduler with its invoker.
#pragma once
#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/basic_stream_descriptor.hpp>
#include <functional>

namespace sluice::gateway {

struct Companion {
  int descriptor = -1;  // readable: there is work; none: no companion
  // In the thread that does the work from now on. It may call `soon` for work() after what it is doing.
  std::function<void(std::function<void()> soon)> lend;
  std::function<void()> work;       // does not wait
  std::function<void()> take_back;  // that thread has ended
};

// Its place in an event loop. In the loop's thread only.
class CompanionWork {
 public:
  CompanionWork(boost::asio::io_context& context, const Companion& companion);
  void begin();
  void end();

 private:
  void watch();
  void soon();

  const Companion& companion_;
  boost::asio::posix::basic_stream_descriptor<boost::asio::io_context::executor_type> descriptor_;
  bool queued_ = false;
};

}  // namespace sluice::gateway
