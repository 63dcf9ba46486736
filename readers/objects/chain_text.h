// A chain of references as people read it.
#ifndef PYMEMRUN_READERS_OBJECTS_CHAIN_TEXT_H_
#define PYMEMRUN_READERS_OBJECTS_CHAIN_TEXT_H_

#include <string>

#include "readers/objects/chains.h"

namespace pymemrun {

// "sys.modules['app'].CACHE['key']", as an expression as far as it is one. Of a
// long chain the middle is left out.
std::string ChainText(const ObjectGraph& graph, const Chain& chain);

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_OBJECTS_CHAIN_TEXT_H_
