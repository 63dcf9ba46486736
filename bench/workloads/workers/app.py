"""A WSGI application: each request is a task."""
import itertools

import keeping

numbers = itertools.count()


def app(environ, start_response):
    told = str(keeping.task(next(numbers))).encode()
    start_response("200 OK", [("Content-Type", "text/plain")])
    return [told]
