import contextlib
class Manager:
    def __enter__(self):
        return self
    def __exit__(self, kind, value, traceback):
        return kind is KeyError
with Manager(), Manager():
    len("x")
with Manager():
    raise KeyError
@contextlib.contextmanager
def managed():
    try:
        yield 1
    except ValueError:
        pass
    finally:
        len("x")
with managed() as m:
    raise ValueError
with managed():
    pass
with contextlib.ExitStack() as stack:
    stack.enter_context(managed())
    stack.callback(len, "x")
with contextlib.suppress(OSError):
    open("/nowhere/at/all")
with open("/dev/null") as null:
    null.read()
