#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <memory>
#include <new>
#include <utility>
#include <vector>

namespace sluice {

/// Rows that are free again, of one thread: by size, so that the next lattice has them without
/// asking for memory.
class FreeRows {
 public:
  ~FreeRows() {
    for (std::size_t c = 0; c < free_.size(); ++c)
      for (void* row : free_[c]) ::operator delete (row, std::size_t{1} << c);
  }
  void* take(std::size_t bytes) {
    const std::size_t c = class_of(bytes);
    if (c >= free_.size() || free_[c].empty()) return ::operator new(room_for(bytes));
    void* row = free_[c].back();
    free_[c].pop_back();
    held_ -= std::size_t{1} << c;
    return row;
  }
  void give_back(void* row, std::size_t bytes) {
    const std::size_t c = class_of(bytes), room = std::size_t{1} << c;
    if (c >= free_.size() || held_ + room > kMostHeld)
      return ::operator delete(row, room_for(bytes));
    free_[c].push_back(row);
    held_ += room;
  }

 private:
  static constexpr std::size_t kMostHeld = std::size_t{16} << 20U;  // bytes
  static std::size_t class_of(std::size_t bytes) {
    return static_cast<std::size_t>(std::bit_width(bytes - 1));
  }
  static std::size_t room_for(std::size_t bytes) { return std::bit_ceil(bytes); }

  std::array<std::vector<void*>, 24> free_;  ///< per power of two, in bytes
  std::size_t held_ = 0;                     ///< bytes
};

/// Of a row's numbers: what a row is made longer by has any value.
template <class T>
struct RowAllocator {
  using value_type = T;

  RowAllocator() = default;
  template <class U>
  explicit RowAllocator(const RowAllocator<U>& /*other*/) {}

  T* allocate(std::size_t n) { return static_cast<T*>(free_rows().take(n * sizeof(T))); }
  void deallocate(T* row, std::size_t n) noexcept { free_rows().give_back(row, n * sizeof(T)); }
  template <class U, class... Args>
  void construct(U* at, Args&&... args) {
    if constexpr (sizeof...(Args) > 0) std::construct_at(at, std::forward<Args>(args)...);
  }
  bool operator==(const RowAllocator& /*other*/) const { return true; }

 private:
  static FreeRows& free_rows() {
    thread_local FreeRows rows;
    return rows;
  }
};

}  // namespace sluice
