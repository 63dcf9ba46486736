"""The programs of current_stack_test.cc: the ways in which frames come and go in
CPython."""
import random, sys, threading
sys.setrecursionlimit(1_000_000)

def keep(n):
    return object(), [n]

class Thing:
    def __init__(self, n):
        step(n)
    def __add__(self, n):
        return step(n)
    def __getitem__(self, n):
        return step(n)
    def __del__(self):
        keep(1)

def walk(n):
    cell = keep(n)
    yield step(n)
    if n > 0:
        yield from walk(n - 1)
    yield (lambda: cell)()

async def wait(n):
    step(n)
    if n > 0:
        await wait(n - 1)

def run(coroutine):
    try:
        coroutine.send(None)
    except StopIteration:
        pass

def through_keywords(n, *more, a=1, **others):
    return step(n)

state = threading.local()

def one_way(n, way):
    if way == 0:
        step(n)
    elif way == 1:
        list(map(step, [n]))
    elif way == 2:
        sorted([n], key=step)
    elif way == 3:
        for x in walk(n):
            keep(x)
    elif way == 4:
        Thing(n)
    elif way == 5:
        state.thing + n
    elif way == 6:
        state.thing[n]
    elif way == 7:
        raise KeyError(n)
    elif way == 8:
        through_keywords(n, a=2, b=3)
    elif way == 9:
        step(*[n])
    elif way == 10:
        state.generators.append(walk(n))
    elif way == 11 and state.generators:
        next(state.generators[int(state.random() * len(state.generators))], None)
    elif way == 12:
        run(wait(n))
    elif way == 13:
        [step(x) for x in [n]]
    else:
        eval("step(n)")

def step(n):
    keep(n)
    for again in range(2 if state.random() < .4 else 1):
        if n <= 0 or state.left <= 0:
            return n
        state.left -= 1
        try:
            if again:
                step(n - 1)
            one_way(n - 1, int(state.random() * 15))
        except (KeyError, ValueError):
            keep(2)
            if state.random() < .5:
                raise
        finally:
            keep(3)
    return n

def at_random(seed):
    state.random = random.Random(seed).random
    state.generators = []
    state.thing = Thing.__new__(Thing)
    state.left = 400
    while state.left > 0:
        try:
            step(40)
        except (KeyError, ValueError):
            pass

def on_threads(target, count):
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    threads = [threading.Thread(target=target, args=(i,)) for i in range(count)]
    for thread in threads: thread.start()
    for thread in threads: thread.join()
    sys.setswitchinterval(before)

def under_trace_function(target, seed):
    def trace(frame, event, arg):
        keep(4)
        frame.f_trace_opcodes = frame.f_lasti % 4 == 0
        if frame.f_code.co_name == 'keep' and event == 'return':
            frame.f_locals
        return trace
    sys.settrace(trace)
    try:
        target(seed)
    finally:
        sys.settrace(None)
    target(seed)

def under_profile_function(target, seed):
    def profile(frame, event, arg):
        keep(5)
    sys.setprofile(profile)
    try:
        target(seed)
    finally:
        sys.setprofile(None)
    target(seed)

def resumed_from_elsewhere():
    def numbers():
        while True:
            yield keep(6)
    def nested():
        yield from numbers()
    def at(depth, generator):
        if depth:
            return at(depth - 1, generator)
        next(generator)
        generator.send(keep(7))
    for make in (numbers, nested):
        generator = make()
        next(generator)
        for depth in (0, 5, 3, 5, 4, 4, 0):
            at(depth, generator)
            next(generator)
        generator.close()

def dying_code():
    for n in range(50):
        space = {'keep': keep}
        exec(f'''def f(x):
    keep({n})
    return f(x - 1) if x else keep(x)
''', space)
        space['f'](5)
        space.clear()

def recursion(n):
    keep(n)
    if n:
        recursion(n - 1)
    keep(n)

def around(n):
    if n:
        return around(n - 1)
    for i in range(2_000):
        recursion(i % 7)

# A stack for C code that calls Python code that calls C code.
def with_room(function, n):
    threading.stack_size(1 << 28)
    thread = threading.Thread(target=function, args=(n,))
    thread.start()
    threading.stack_size(0)
    thread.join()

def through_map(n):
    keep(n)
    if n:
        list(map(through_map, [n - 1]))
    keep(n)

def through_sorted(n):
    keep(n)
    if n:
        sorted([n - 1], key=through_sorted)
    keep(n)
    return n

def generator(n):
    keep(n)
    if n:
        for x in generator(n - 1):
            yield x
    yield keep(n)

def through_generators(n):
    # Each value comes all the way up.
    values = generator(n)
    for i in range(20):
        next(values)

def fails(n):
    if n == 0:
        raise KeyError(keep(n))
    return fails(n - 1)

def unwinding(n):
    keep(n)
    if n > 1_000:
        return unwinding(n - 1)
    for i in range(10):
        try:
            fails(1_000)
        except KeyError:
            keep(n)

def alternating(n):
    turns = [threading.Lock(), threading.Lock()]
    turns[1].acquire()
    def down(own, n):
        if n:
            return down(own, n - 1)
        for i in range(1_000):
            turns[own].acquire()
            recursion(3)
            turns[not own].release()
    threads = [threading.Thread(target=down, args=(i, n)) for i in (0, 1)]
    for thread in threads: thread.start()
    for thread in threads: thread.join()
