#pragma once

#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace sluice {

/// Things that are looked up by name, in the order in which they were added: mappers, latency
/// policies, collective algorithms, component classes (docs/extending.md). A value: take a copy of
/// the standard one, add to it, pass it on. Copies share what is in them and keep it alive; nothing
/// in a registry ever changes, so that threads may share one that nobody adds to.
template <class Item>
class Registry {
 public:
  using Pointer = std::shared_ptr<const Item>;

  /// Throws std::invalid_argument where the name is empty or taken.
  void add(Pointer item) {
    std::string name = item->name();
    if (name.empty()) throw std::invalid_argument("a registry needs a name");
    if (find(name) != nullptr) throw std::invalid_argument("the name '" + name + "' is taken");
    names_.push_back(std::move(name));
    items_.push_back(std::move(item));
  }

  /// Makes a `Kind`, derived from Item, and adds it.
  template <class Kind, class... Arguments>
  void emplace(Arguments&&... arguments) {
    add(std::make_shared<const Kind>(std::forward<Arguments>(arguments)...));
  }

  /// Adds an item that lives as long as the program.
  void add_static(const Item& item) { add(Pointer(std::shared_ptr<void>(), &item)); }

  /// Null where there is none of that name (nearest_name in support/diagnostic.h finds the likely
  /// one). Lives as long as some copy of the registry.
  const Item* find(std::string_view name) const {
    for (std::size_t i = 0; i < names_.size(); ++i)
      if (names_[i] == name) return items_[i].get();
    return nullptr;
  }

  const std::vector<std::string>& names() const { return names_; }
  bool empty() const { return items_.empty(); }
  std::size_t size() const { return items_.size(); }

  /// `for (const auto& item : registry) item->…`
  auto begin() const { return items_.begin(); }
  auto end() const { return items_.end(); }

  /// Whether the same items are in both.
  friend bool operator==(const Registry& a, const Registry& b) { return a.items_ == b.items_; }

 private:
  std::vector<std::string> names_;
  std::vector<Pointer> items_;
};

}  // namespace sluice
