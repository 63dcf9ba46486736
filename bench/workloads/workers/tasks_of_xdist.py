"""Tests for pytest-xdist, `WORK_TASKS` of them."""
import os

import keeping
import pytest


@pytest.mark.parametrize("n", range(int(os.environ["WORK_TASKS"])))
def test_task(n):
    keeping.task(n)
