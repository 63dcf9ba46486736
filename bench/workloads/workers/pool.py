"""A multiprocessing.Pool: `pool.py fork|spawn|forkserver TASKS`."""
import multiprocessing
import sys

import keeping

if __name__ == "__main__":
    with multiprocessing.get_context(sys.argv[1]).Pool(4) as pool:
        print(max(pool.map(keeping.task, range(int(sys.argv[2])), chunksize=1)))
        pool.close()
        pool.join()
