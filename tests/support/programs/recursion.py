def fib(n):
    return n if n < 2 else fib(n - 1) + fib(n - 2)
fib(12)
# Not to the limit: a recorder written in Python takes a part of it.
def deep(n):
    if n == 0:
        raise RecursionError
    return len([deep(n - 1)])
try:
    deep(800)
except RecursionError:
    pass
def even(n): return n == 0 or odd(n - 1)
def odd(n): return n != 0 and even(n - 1)
even(50)
