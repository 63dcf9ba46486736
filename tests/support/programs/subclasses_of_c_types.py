import gc
class Stack(list):
    def push(self, x):
        self.append(x)
        super().append(x)
class Outer:
    class Inner(dict):
        pass
    class Text(str):
        def shout(self):
            return self.upper().join("ab")
s = Stack()
s.push(1)
s.append(2)
list.append(s, 3)
s.extend([1])
[].append(1)
i = Outer.Inner(a=1)
i.get("a")
i.setdefault("b", 2)
{}.get("a")
Outer.Text("x").shout()
"x".upper()
Outer.Inner.fromkeys("ab")
dict.fromkeys("ab")
class Number(int):
    pass
Number(5).bit_length()
(5).bit_length()
Number.from_bytes(b"a", "big")
int.from_bytes(b"a", "big")
class Error(ValueError):
    pass
Error().with_traceback(None)
# Types that come and go, at the addresses of those before.
for n in range(40):
    T = type("T%d" % n, (list,), {})
    t = T()
    t.append(n)
    del t, T
    gc.collect()
def local():
    class Here(set):
        pass
    return Here()
local().add(1)
local().add(1)
