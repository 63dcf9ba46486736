import functools
def plain(f):
    def wrapper(*args):
        return f(*args)
    return wrapper

def named(label):
    def decorate(f):
        @functools.wraps(f)
        def wrapper(*args, **kwargs):
            str.format("{}", label)
            return f(*args, **kwargs)
        return wrapper
    return decorate

@plain
@named("x")
def work(n):
    return abs(n)

@functools.lru_cache(maxsize=None)
def cached(n):
    return n and cached(n - 1) + 1

class Counted:
    def __init__(self, f):
        self.f = f
        self.n = 0
    def __call__(self, *args):
        self.n += 1
        return self.f(*args)

@Counted
def counted(x):
    return x

@functools.singledispatch
def single(x): return "any"
@single.register
def _(x: int): return "int"

work(-1); cached(5); cached(3); counted(1); single(1); single("")
