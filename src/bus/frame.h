// Frame: what travels between a RemoteLink and a Station: numbered items of one session, with an acknowledgement of
// the other direction. Any bytes may come in. A number that was never seen, or a frame that says more was sent than
// arrived, is a gap: nothing is sent again, the station begins a new session and says what it is (station.h).
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "bus/door.h"
#include "bus/link.h"

namespace sluice::bus {

inline constexpr std::uint32_t kVersion = 10;
inline constexpr std::size_t frame_bytes_max = 16u << 20;

struct Deploy {
  ApplicationId id;
  std::shared_ptr<const Application> application;
  void visit(auto& archive) { archive(id, application); }
};
struct Forget {
  ApplicationId id;
  void visit(auto& archive) { archive(id); }
};
using ToInvoker = std::variant<Deploy, Forget, Command, TenantLimit>;
using FromInvoker = std::variant<Event, Printed>;

struct Cancel {
  RequestId request;
  void visit(auto& archive) { archive(request); }
};
struct Moved {
  Arrival arrival;
  void visit(auto& archive) { archive(arrival); }
};
using FromGateway = std::variant<Arrival, Cancel, AnswerTaken>;
using ToGateway = std::variant<Answered, Moved>;

// Which conversation a frame belongs to: the station's start, and how often it began anew since.
struct Session {
  std::uint64_t epoch = 0, number = 0;
  friend auto operator<=>(const Session&, const Session&) = default;
  void visit(auto& archive) { archive(epoch, number); }
};

template <class Item>
struct Frame {
  Session session;
  Time at;                         // the sender's clock: times inside of items are of it
  bool rejoin = false;             // to the station: something is missing, begin a new session
  std::uint64_t acknowledged = 0;  // the last item of the other direction that arrived
  std::uint64_t sent = 0;          // the last item of this direction, those of this frame included
  std::vector<Item> items;         // numbered sent - items.size() + 1 … sent
  void visit(auto& archive) { archive(session, at, rejoin, acknowledged, sent, items); }
  [[nodiscard]] std::uint64_t first() const { return sent - items.size() + 1; }
};

// An error if it would be larger than a frame may be.
[[nodiscard]] Result<std::string> encode(const Frame<ToInvoker>& frame);
[[nodiscard]] Result<std::string> encode(const Frame<FromInvoker>& frame);
[[nodiscard]] Result<std::string> encode(const Frame<FromGateway>& frame);
[[nodiscard]] Result<std::string> encode(const Frame<ToGateway>& frame);
// An error unless the bytes are exactly one frame of this version.
[[nodiscard]] Result<Frame<ToInvoker>> decode_to_invoker(std::string_view bytes);
[[nodiscard]] Result<Frame<FromInvoker>> decode_from_invoker(std::string_view bytes);
[[nodiscard]] Result<Frame<FromGateway>> decode_from_gateway(std::string_view bytes);
[[nodiscard]] Result<Frame<ToGateway>> decode_to_gateway(std::string_view bytes);

// Carries frames. They may be lost, doubled and overtaken, never changed.
class Transport {
 public:
  virtual ~Transport() = default;
  virtual void send(std::string frame) = 0;
  // The next frame that has arrived; false: none. Does not wait.
  [[nodiscard]] virtual bool receive(std::string& frame) = 0;
};

}  // namespace sluice::bus
