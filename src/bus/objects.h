// Objects: what other machines hold of requests, for whoever misses it here: an agent that runs a stage, a gateway that
// collects outputs. Nothing here waits. ObjectExchange (object_exchange.h) asks over transports; Resolver (resolver.h)
// goes on with a piece of work when what it missed has come. On a machine that runs alone there is none of it.
#pragma once
#include <compare>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "data/object_store.h"
#include "domain/ids.h"

namespace sluice::bus {

// One object of one request.
struct ObjectName {
  RequestId request;
  data::ObjectKey key;
  friend auto operator<=>(const ObjectName&, const ObjectName&) = default;
  void visit(auto& archive) { archive(request, key); }
};

// What a place said that did not send the object.
struct Said {
  enum class Kind : std::uint8_t {
    silent,     // nothing, or nothing that could be used
    unknowing,  // it holds nothing of the request and was not told of it: not yet, or it has lost everything
    absent,     // it knows the request and does not hold the object
  };
  InvokerId place;  // none: the gateway of the request
  Kind kind = Kind::silent;
  std::uint64_t held = 0;  // objects of the request that it had when it said so
};
struct Fetched {
  data::SharedTensors tensors;  // null: none of the places has it
  std::vector<Said> said;       // by places that did not send it
};

// Another machine that asked this one for an object of a request: it holds some, or will.
struct Asker {
  InvokerId place;
  std::uint64_t held = 0;  // objects of the request that it had when it asked last
};

class Objects {
 public:
  using OnFetched = std::function<void(Fetched)>;
  virtual ~Objects() = default;

  // Asks all of these places for one object; the first that has it sends it, into `arena`. `told` is called once,
  // later. InvokerId::none() is the gateway of the request. Returns a number that is never 0.
  virtual std::uint64_t fetch(const ObjectName& name, std::span<const InvokerId> places,
                              std::shared_ptr<data::Arena> arena, OnFetched told) = 0;
  // Nobody wants it any more: `told` is not called.
  virtual void give_up(std::uint64_t fetch) = 0;

  // Whether an invoker is of this machine, so that its objects are here.
  [[nodiscard]] virtual bool is_here(InvokerId place) const = 0;
  // Who asked for objects of a request, until it is forgotten.
  [[nodiscard]] virtual std::span<const Asker> askers(RequestId request) const = 0;
  // The request is over.
  virtual void forget(RequestId request) = 0;
};

}  // namespace sluice::bus
