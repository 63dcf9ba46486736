def raises(depth):
    if depth:
        raises(depth - 1)
    raise KeyError(depth)

def swallows():
    try:
        raises(3)
    except KeyError as error:
        str(error)
        try:
            int("not a number")
        except ValueError:
            pass
    finally:
        len("finally")

def reraises():
    try:
        [].pop()
    except IndexError as e:
        raise RuntimeError("outer") from e

swallows()
try:
    reraises()
except RuntimeError:
    pass
try:
    getattr(1, "missing")
except AttributeError:
    pass
try:
    sorted([1, "a"])
except TypeError:
    pass
try:
    len()
except TypeError:
    pass
try:
    raise ExceptionGroup("g", [ValueError(1), TypeError(2)])
except* ValueError:
    len("v")
except* TypeError:
    len("t")
