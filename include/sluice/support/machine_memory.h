#pragma once

namespace sluice {

/// What this machine has, in bytes.
double bytes_of_machine();

/// What this process holds in memory at this moment, in bytes; 0 where the system does not say.
double resident_bytes();

/// The most that it ever held, in bytes.
double peak_resident_bytes();

}  // namespace sluice
