"""The programs of current_stack_test.cc: the ways in which frames come and go in
CPython."""
import gc, random, sys, threading
sys.setrecursionlimit(1_000_000)
sys.unraisablehook = lambda unraisable: None

def keep(n):
    return object(), [n]

class Thing:
    def __init__(self, n):
        step(n)
    def __add__(self, n):
        return step(n)
    def __getitem__(self, n):
        return step(n)
    def __getattr__(self, name):
        return step(int(name[1:]))
    def __call__(self, n):
        return step(n)
    def __enter__(self):
        return keep(8)
    def __exit__(self, *error):
        keep(9)
    @property
    def value(self):
        return step(self.__dict__['n'])
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

async def count(n):
    for x in walk(n):
        keep(x)
        yield x
    await wait(n)

async def wait_for_each(n):
    async for x in count(n):
        step(n)

class Cycle:
    def __init__(self, n):
        self.n, self.own = n, self
    def __del__(self):
        step(self.n)

class Picky:
    def __init__(self, n):
        self.n = n
    def __getattribute__(self, name):
        keep(name)
        return object.__getattribute__(self, name)

def run(coroutine):
    try:
        coroutine.send(None)
    except StopIteration:
        pass

# Its stack is no higher than a `for` over a generator needs it.
def loop(numbers):
    for x in numbers:
        pass

def loop_again(numbers, others):
    # What handles the exception leaves alone what is above its own stack.
    try:
        for i in (1, 2):
            for j in (1, 2):
                for x in numbers:
                    pass
    except:
        pass
    yield
    for i in (1, 2):
        for j in (1, 2):
            for x in others:
                yield

def one_of(generators):
    return generators[int(state.random() * len(generators))]

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
        next(one_of(state.generators), None)
    elif way == 12:
        run(wait(n))
    elif way == 13:
        [step(x) for x in [n]]
    elif way == 14:
        run(wait_for_each(n))
    elif way == 15:
        getattr(state.thing, f'a{n}')
    elif way == 16:
        state.thing.__dict__['n'] = n
        state.thing.value
    elif way == 17:
        Cycle(n)
        gc.collect(0)
    elif way == 18:
        with state.thing:
            state.thing(n)
    elif way == 19:
        step(Picky(n).n)
    elif way == 20 and state.generators:
        loop(one_of(state.generators))
    elif way == 21 and state.generators:
        state.generators.append(
            loop_again(one_of(state.generators), one_of(state.generators)))
    elif way == 22 and state.generators:
        one_of(state.generators).throw(KeyError(n))
    elif way == 23 and state.generators:
        one_of(state.generators).close()
    elif way == 24:
        state.generators.append(step(n) for x in walk(n))
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
            one_way(n - 1, int(state.random() * 26))
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

def looped_again():
    # The frames of `loop` are at one place, and what calls them changes.
    def failing():
        yield keep(10)
        keep(11)
        raise KeyError(keep(12))
    def at(depth, numbers):
        if depth:
            return at(depth - 1, numbers)
        try:
            loop(numbers)
        except KeyError:
            keep(13)
        try:
            loop(failing())
        except KeyError:
            keep(14)
    for i in range(200):
        at(i % 3, failing())
        for again in (failing, failing):
            try:
                loop(again())
            except KeyError:
                pass
        looping = loop_again(failing(), failing())
        for depth in (0, 2, 1, 0):
            at(depth, looping)

def at_the_limit():
    def down(n):
        try:
            keep(n)
            for x in up(n):
                keep(x)
        finally:
            keep(n)
    def up(n):
        yield n
        down(n + 1)
        Thing.__new__(Thing)(n)
    before = sys.getrecursionlimit()
    state.left = 0
    for limit in (150, 151, 152, 153):
        sys.setrecursionlimit(limit)
        try:
            down(0)
        except RecursionError:
            keep(15)
        finally:
            sys.setrecursionlimit(before)

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

def through_init(n):
    keep(n)
    if n:
        Link(n - 1)
    keep(n)

class Link:
    def __init__(self, n):
        self.made = through_init(n)

def through_sorted(n):
    keep(n)
    if n:
        sorted([n - 1], key=through_sorted)
    keep(n)
    return n

# Each of 20 values comes all the way up. All are taken: a generator that is left
# alone ends with a call of C code for each that it waits for.
def generator(n):
    keep(n)
    if n:
        for x in generator(n - 1):
            yield x
    if n < 20:
        yield keep(n)

def sender(n):
    keep(n)
    if n:
        yield from sender(n - 1)
    if n < 20:
        yield keep(n)

def through_generators(n):
    for x in generator(n):
        keep(x)

def through_senders(n):
    for x in sender(n):
        keep(x)

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
