"""A service whose cache never forgets. Which line leaks?"""
import json

CACHE = {}


def handle(request):
    key = json.dumps(request)
    if key not in CACHE:
        CACHE[key] = [request["user"]] * 200  # leaks
    return len(CACHE[key])


served = 0
for n in range(20000):
    served += handle({"user": n, "path": f"/items/{n % 50}"})
print(served)
