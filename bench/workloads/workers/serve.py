"""gunicorn with 4 workers and --preload, and a client on loopback that asks it
`serve.py REQUESTS` times, some at once. Then the client tells it to end."""
import concurrent.futures
import http.client
import os
import signal
import socket
import subprocess
import sys
import time

AT_ONCE = 8


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def ask(port, count):
    answers = set()
    for _ in range(count):
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
        connection.request("GET", "/")
        answers.add(int(connection.getresponse().read()))
        connection.close()
    return answers


def answers(port):
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def client(port, requests, server):
    """A process of its own, which is not traced."""
    while not answers(port):
        time.sleep(.01)
    with concurrent.futures.ThreadPoolExecutor(AT_ONCE) as pool:
        told = set().union(*pool.map(lambda _: ask(port, requests // AT_ONCE),
                                     range(AT_ONCE)))
    print(max(told), flush=True)
    os.kill(server, signal.SIGTERM)


def serve(requests):
    port = free_port()
    subprocess.Popen([sys.executable, __file__, str(port), requests,
                      str(os.getpid())])
    from gunicorn.app.wsgiapp import WSGIApplication  # the client needs none

    sys.argv = ["gunicorn", "--preload", "--workers", "4", "--bind",
                f"127.0.0.1:{port}", "--log-level", "error", "app:app"]
    WSGIApplication("%(prog)s [OPTIONS] [APP_MODULE]").run()


if __name__ == "__main__":
    if len(sys.argv) == 2:
        serve(sys.argv[1])
    else:
        client(*map(int, sys.argv[1:]))
