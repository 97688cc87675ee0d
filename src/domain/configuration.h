// Configuration: what one batch runs with. A small value that is compared, hashed and copied everywhere.
#pragma once
#include <algorithm>
#include <array>
#include <compare>
#include <cstdint>
#include <string_view>
#include <vector>

namespace sluice {

// The kind of device a body runs on: "cpu", "gpu" (any), or a model such as "h200". An open key of the profile, held in
// place so that a configuration stays a plain value.
class DeviceKind {
 public:
  static constexpr std::size_t kLengthMax = 8;
  constexpr DeviceKind() : DeviceKind("cpu") {}
  // REQUIRES: fits(name).
  constexpr explicit DeviceKind(std::string_view name) : name_{} { std::copy(name.begin(), name.end(), name_.begin()); }
  // 1 to kLengthMax lower-case letters, digits, '-', '_' and '.'.
  [[nodiscard]] static constexpr bool fits(std::string_view name) {
    return !name.empty() && name.size() <= kLengthMax &&
           name.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789-_.") == std::string_view::npos;
  }
  [[nodiscard]] static constexpr DeviceKind cpu() { return DeviceKind("cpu"); }
  [[nodiscard]] static constexpr DeviceKind gpu() { return DeviceKind("gpu"); }
  [[nodiscard]] constexpr std::string_view name() const {
    const auto end = std::find(name_.begin(), name_.end(), '\0');
    return {name_.data(), static_cast<std::size_t>(end - name_.begin())};
  }
  [[nodiscard]] constexpr bool is_cpu() const { return name() == "cpu"; }
  friend constexpr auto operator<=>(const DeviceKind&, const DeviceKind&) = default;
  void visit(auto& archive) {
    archive(name_);
    if (!archive.is_loading() || *this == checked()) return;
    *this = DeviceKind();
    archive.fail();
  }

 private:
  // The kind again if it is one that can be made, else another.
  [[nodiscard]] constexpr DeviceKind checked() const { return fits(name()) ? DeviceKind(name()) : DeviceKind(); }
  std::array<char, kLengthMax> name_;
};

// REQUIRES: batch ≥ 1; slices == 0 exactly if the device is the CPU.
struct Configuration {
  std::uint16_t batch = 1;
  std::uint16_t vcpu = 0;
  std::uint16_t slices = 0;
  DeviceKind device = DeviceKind::cpu();
  friend constexpr auto operator<=>(const Configuration&, const Configuration&) = default;
  void visit(auto& archive) { archive(batch, vcpu, slices, device); }
};

// A configuration on the usual device: the CPU without slices, any GPU with.
[[nodiscard]] constexpr Configuration configuration(int batch, int vcpu, int slices) {
  return {.batch = static_cast<std::uint16_t>(batch),
          .vcpu = static_cast<std::uint16_t>(vcpu),
          .slices = static_cast<std::uint16_t>(slices),
          .device = slices > 0 ? DeviceKind::gpu() : DeviceKind::cpu()};
}

// Which configurations a stage may use; an empty list allows all.
struct ConfigurationFilter {
  std::vector<std::uint16_t> batch, vcpu, slices;
  std::vector<DeviceKind> device;
  [[nodiscard]] bool empty() const { return batch.empty() && vcpu.empty() && slices.empty() && device.empty(); }
  [[nodiscard]] bool allows(const Configuration& c) const {
    const auto in = [](const auto& list, const auto& value) {
      return list.empty() || std::find(list.begin(), list.end(), value) != list.end();
    };
    return in(batch, c.batch) && in(vcpu, c.vcpu) && in(slices, c.slices) && in(device, c.device);
  }
  friend bool operator==(const ConfigurationFilter&, const ConfigurationFilter&) = default;
  void visit(auto& archive) { archive(batch, vcpu, slices, device); }
};

}  // namespace sluice
