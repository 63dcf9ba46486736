class Meta(type):
    @classmethod
    def __prepare__(mcs, name, bases, **kw):
        return dict()
    def __new__(mcs, name, bases, space, **kw):
        return super().__new__(mcs, name, bases, space)
    def __init__(cls, name, bases, space, **kw):
        super().__init__(name, bases, space)
    def __call__(cls, *args):
        return super().__call__(*args)
    def __instancecheck__(cls, other):
        return True

class Base(metaclass=Meta):
    def __init_subclass__(cls, tag=None, **kw):
        super().__init_subclass__(**kw)
        cls.tag = tag
    def __set_name__(self, owner, name):
        self.name = name

class Marker:
    def __set_name__(self, owner, name):
        repr(name)

class Derived(Base, tag="t"):
    marker = Marker()
    __slots__ = ("x",)
    def __new__(cls, x):
        return object.__new__(cls)
    def __init__(self, x):
        self.x = x
    def __eq__(self, other):
        return self.x == other.x
    def __hash__(self):
        return hash(self.x)
    def __getattr__(self, name):
        return name
    def __class_getitem__(cls, item):
        return cls

d = Derived(1)
d == Derived(1)
{d: 1}[Derived(1)]
d.unknown
isinstance(1, Derived)
issubclass(Derived, Base)
Derived[int]
Dynamic = type("Dynamic", (Base,), {"f": lambda self: dir(self)})
Dynamic().f()
