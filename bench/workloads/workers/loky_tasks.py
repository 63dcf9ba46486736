"""joblib with loky: `loky_tasks.py TASKS`."""
import sys

import joblib
import keeping

if __name__ == "__main__":
    print(max(joblib.Parallel(n_jobs=4, batch_size=1)(
        joblib.delayed(keeping.task)(n) for n in range(int(sys.argv[1])))))
