"""event_recorder.py SCRIPT OUTPUT: runs the script as __main__ under
sys.setprofile and writes the events as JSON: a list for each thread, the main
one first. Imports nothing that the interpreter has not imported by itself. A
script arms its own threads with the name RECORDER, where it is defined.
"""
import sys
import _thread
WHATS = {"call": "CALL", "return": "RETURN", "c_call": "C_CALL",
         "c_return": "C_RETURN", "c_exception": "C_EXCEPT"}
script, output = sys.argv[1:3]
with open(script) as file:
    code = compile(file.read(), script, "exec")
main = type(sys)("__main__")
main.__file__ = script
sys.modules["__main__"] = main
sys.argv = [script]
threads = {}

def record(frame, event, arg, threads=threads, ident=_thread.get_native_id,
           whats=WHATS):
    code = frame.f_code
    what = whats[event]
    name = arg.__qualname__ if what[0] == "C" and what[1] == "_" \
        else code.co_name
    me = ident()
    if me not in threads:
        threads[me] = []
    threads[me].append((what, code.co_filename, frame.f_lineno or 0, name))

main.RECORDER = record
names = main.__dict__
sys.setprofile(record)
exec(code, names)
sys.setprofile(None)
here = threads.pop(_thread.get_native_id())
# The recorder's own: the call of exec, its return, the call of setprofile.
own = here[:1] + here[-2:]
assert [e[0::3] for e in own] == [("C_CALL", "exec"), ("C_RETURN", "exec"),
                                  ("C_CALL", "setprofile")], own
assert all(e[1] == __file__ for e in own), own
import json
with open(output, "w") as file:
    json.dump([here[1:-2], *threads.values()], file)
