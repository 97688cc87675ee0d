// Standings: how it is known how long the functions take that are deployed, and which of them wait for a request to be
// measured with. Of the scheduler's thread alone; used by Runner.
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "bus/link.h"
#include "live/directory.h"

namespace sluice::live {

// The inputs of the first request of a function whose profile waits for one.
struct FirstRequest {
  std::shared_ptr<const Application> application;
  std::size_t function = 0;           // position in the application
  std::uint64_t key = 0;              // of its content
  std::string inputs;                 // data/tensor_blob.h
  std::shared_ptr<const void> files;  // its models stay while this is held
};

class Standings {
 public:
  // Both must outlive it.
  Standings(Directory& directory, bus::Link& link) : directory_(directory), link_(link) {}

  // It is in the directory, and the link knows it: samples of functions that wait are asked for.
  void deployed(ApplicationId id);
  // What is said of every function of this content. Only what is known can be learned better; that a function waits, is
  // measured or failed is said of those alone that are not known.
  void change(std::uint64_t key, const ProfileStanding& standing);
  // A function has its first request. Nothing: there is nothing to measure.
  [[nodiscard]] std::optional<FirstRequest> take(bus::Sampled sample);

  // Of every function of this content, whichever applications have it: visit(id, Installed&, position).
  template <typename Visit>
  void each_of(std::uint64_t key, Visit&& visit) {
    directory_.each([&](ApplicationId id, Installed& installed) {
      for (std::size_t f = 0; f < installed.keys.size(); ++f) {
        if (installed.keys[f] == key) visit(id, installed, f);
      }
    });
  }

 private:
  Directory& directory_;
  bus::Link& link_;
};

}  // namespace sluice::live
