import types

class Wait:
    def __init__(self, n):
        self.n = n
    def __await__(self):
        for i in range(self.n):
            yield i
        return self.n

async def inner(n):
    return await Wait(n) + len("x" * n)

async def outer():
    a = await inner(2)
    b = await inner(0)
    return a + b

@types.coroutine
def old_style():
    yield 7

async def failing():
    await old_style()
    raise ValueError("x")

def drive(coroutine):
    try:
        while True:
            coroutine.send(None)
    except StopIteration as e:
        return e.value

drive(outer())
try:
    drive(failing())
except ValueError:
    pass
c = outer()
c.send(None)
c.close()
