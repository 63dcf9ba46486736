async def numbers(n):
    try:
        for i in range(n):
            yield i
    finally:
        repr(n)

class Context:
    async def __aenter__(self):
        return self
    async def __aexit__(self, *error):
        return bool(error[0])

async def use():
    found = [i async for i in numbers(3) if abs(i)]
    async with Context():
        raise KeyError("swallowed")
    async for i in numbers(9):
        break
    g = numbers(2)
    await g.asend(None)
    await g.aclose()
    return found

coroutine = use()
try:
    coroutine.send(None)
except StopIteration as e:
    e.value
