// What the interpreter allocates by in the child: a stack of blocks. Other
// threads of the parent's may have held the locks of any other allocator.
#ifndef PYMEMRUN_TRACER_OBJECTS_CHILD_ALLOCATOR_H_
#define PYMEMRUN_TRACER_OBJECTS_CHILD_ALLOCATOR_H_

namespace pymemrun {

// From here on, in all domains of the interpreter.
void UseChildAllocator();

}  // namespace pymemrun

#endif  // PYMEMRUN_TRACER_OBJECTS_CHILD_ALLOCATOR_H_
