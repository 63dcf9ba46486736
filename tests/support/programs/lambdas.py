f = lambda x, *y: len(y)
f(1, 2)
(lambda: None)()
g = lambda n: n and g(n - 1)
g(4)
table = {"a": lambda: abs(-1), "b": lambda: [
    ord(c) for c in "x"]}
table["a"](); table["b"]()
curry = lambda a: lambda b: lambda c: max(a, b, c)
curry(1)(2)(3)
def defaults(x=lambda: len("x")):
    return x()
defaults()
