exec("a = len('abc')")
eval("abs(-1)")
code = compile("def f(x):\n  return len(x)\nf('a')\n", "made.py", "exec")
exec(code, {})
exec(code, {"__name__": "other"})
# Entries that say "no line" for eight instructions each.
no_lines = b"\xff" * (len(code.co_code) // 16) + bytes(
    [0xf8 + len(code.co_code) // 2 % 8 - 1])
exec(code.replace(co_linetable=no_lines, co_filename="nolines.py",
                  co_name="nowhere"), {})
f = eval("lambda x: abs(x)")
f(-1)
try:
    exec("1/0")
except ZeroDivisionError:
    pass
try:
    compile("def", "x", "exec")
except SyntaxError:
    pass
def function():
    local = 1
    exec("local2 = local + len('ab')")
    return eval("[abs(x) for x in (1, 2)]")
function()
# Code objects that come and go, at the addresses of those before.
for n in range(60):
    names = {}
    exec(compile("\n" * n + "def g%d(x):\n return abs(x)\n" % n,
                 "g%d.py" % n, "exec"), names)
    names["g%d" % n](-n)
    del names
# A line number that goes far in one step.
exec("def shape():\n 'doc'" + "\n" * 700 + " return len('x')\nshape()\n")
