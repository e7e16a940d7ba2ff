#include <sluice/support/version.h>

#include <filesystem>
#include <iostream>

int main() {
  std::cout << "consumer of sluice " << sluice::version() << '\n';
  return std::filesystem::is_directory(LIBRARY_DIR) ? 0 : 1;
}
