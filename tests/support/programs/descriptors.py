class Field:
    def __get__(self, instance, owner):
        return self if instance is None else 7
    def __set__(self, instance, value):
        str(value)
    def __delete__(self, instance):
        len("gone")
class C:
    field = Field()
    @property
    def p(self):
        return abs(-1)
    @p.setter
    def p(self, value):
        repr(value)
    @staticmethod
    def s(x): return len(x)
    @classmethod
    def c(cls): return cls.s("ab")
    def __getattribute__(self, name):
        return object.__getattribute__(self, name)
    def __setattr__(self, name, value):
        super().__setattr__(name, value)
    def __len__(self): return 3
    def __iter__(self): return iter("ab")
    def __contains__(self, x): return x == 1
    def __getitem__(self, i): return range(3)[i]
    def __add__(self, other): return divmod(7, 2)
    def __bool__(self): return True
    def __repr__(self): return str.format("{}", 1)
    def __index__(self): return 2
c = C()
c.p; c.p = 1; c.field; c.field = 2; del c.field
C.field; C.c(); c.s("x"); c.x = 1
len(c); list(c); 1 in c; c[0]; c + 1; bool(c); repr(c); [1, 2, 3][c]
setattr(c, "y", getattr(c, "p")); hasattr(c, "nothing")
