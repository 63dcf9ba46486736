/* Preloaded by preloaded_test.py: an allocator, as simple as can be, that must
 * win over libc's for everybody. At its first calls, and at some later ones, it
 * looks for functions that are not there. At the end it says how many blocks
 * were asked for and given back, and whether any of those was another's. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { ALIGNMENT = 16 };
static const size_t room = (size_t)1 << 32;

static char *begin, *next_block;
static long allocated, freed, strange;

/* Before each block stands its size. */
static void *allocate(size_t alignment, size_t size) {
  if (begin == NULL) {
    void *const memory = mmap(NULL, room, PROT_READ | PROT_WRITE,
                              MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) return NULL;
    begin = memory;
    __atomic_store_n(&next_block, begin, __ATOMIC_RELEASE);
  }
  if (alignment < ALIGNMENT) alignment = ALIGNMENT;
  const size_t needed = size + 2 * alignment + ALIGNMENT;
  char *const from = __atomic_fetch_add(&next_block, needed, __ATOMIC_RELAXED);
  if (from + needed > begin + room) return NULL;
  uintptr_t block = (uintptr_t)from + ALIGNMENT + alignment - 1;
  block -= block % alignment;
  ((size_t *)block)[-1] = size;
  const long number = __atomic_add_fetch(&allocated, 1, __ATOMIC_RELAXED);
  if (number < 4 || number % 1000 == 0) dlsym(RTLD_NEXT, "no_such_function");
  return (void *)block;
}

void *malloc(size_t size) { return allocate(ALIGNMENT, size); }

void *calloc(size_t count, size_t each) {
  size_t size;
  if (__builtin_mul_overflow(count, each, &size)) return NULL;
  return allocate(ALIGNMENT, size); /* never used before: zeros */
}

void free(void *block) {
  if (block == NULL) return;
  const int ours = (char *)block > begin && (char *)block < next_block;
  __atomic_add_fetch(ours ? &freed : &strange, 1, __ATOMIC_RELAXED);
}

void *realloc(void *old, size_t size) {
  char *const block = allocate(ALIGNMENT, size);
  if (old == NULL || block == NULL) return block;
  const size_t old_size = ((size_t *)old)[-1];
  memcpy(block, old, old_size < size ? old_size : size);
  free(old);
  return block;
}

int posix_memalign(void **block, size_t alignment, size_t size) {
  *block = allocate(alignment, size);
  return *block == NULL ? 12 : 0;
}
void *memalign(size_t alignment, size_t size) {
  return allocate(alignment, size);
}
void *aligned_alloc(size_t alignment, size_t size) {
  return allocate(alignment, size);
}

__attribute__((destructor)) static void tell(void) {
  char text[100];
  const int size =
      snprintf(text, sizeof(text), "allocated %ld freed %ld strange %ld\n",
               allocated, freed, strange);
  if (write(1, text, (size_t)size) != size) _exit(1);
}
