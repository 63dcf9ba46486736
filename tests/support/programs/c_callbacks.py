import functools
def key(x):
    return -x
sorted([3, 1, 2], key=key)
sorted([3, 1, 2], key=abs)
sorted([3, 1, 2], key=lambda x: abs(x))
[3, 1].sort(key=key)
list(map(key, range(3)))
list(map(abs, range(3)))
list(filter(key, range(3)))
functools.reduce(lambda a, b: a + b, range(5))
functools.reduce(max, [1, 2, 3])
max([1, 2], key=key)
min("ab", key=ord)
sorted([3, 1, 2], key=functools.cmp_to_key(lambda a, b: a - b))
functools.partial(key, 4)()
functools.partial(len, "abc")()
def bad(x):
    raise ValueError(x)
try:
    sorted([1], key=bad)
except ValueError:
    pass
iter(iter([1, 2]).__next__, 2).__next__()
print(*[], end="")
len.__call__("abc")
list.append([], 1)
str.upper("a")
[].append.__call__(1)
