#pragma once

#include "triples/kinds.h"

namespace sluice::triples {

/// The kinds of the forwards of a triple.
void note_forwards(const Triple& triple, Kinds& kinds);

}  // namespace sluice::triples
