"""Is killed while it holds much memory. What was alive?"""
import os
import signal

rows = []
for n in range(60):
    rows.append(bytearray(1 << 20))  # alive
os.kill(os.getpid(), signal.SIGKILL)
