class Point:
    __match_args__ = ("x", "y")
    def __init__(self, x, y):
        self.x, self.y = x, y
def kind(value):
    match value:
        case Point(0, y) if abs(y):
            return "axis"
        case {"a": int(x)}:
            return hex(x)
        case [first, *rest]:
            return len(rest)
        case str():
            return value.upper()
        case _:
            return None
for value in (Point(0, 1), {"a": 2}, [1, 2], "x", 3.5, Point(1, 1)):
    kind(value)
