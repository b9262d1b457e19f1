# SPDX-License-Identifier: BSD-3-Clause
import common  # noqa: F401: the path to the harness
import pytest
from harness import private_directory, private_surroundings


def pytest_configure(config):
    config.addinivalue_line("markers", "long: has a longer form, with HEAPWATCH_LONG=1")


@pytest.fixture(scope="session", autouse=True)
def surroundings():
    with private_surroundings():
        yield


@pytest.fixture
def directory():
    with private_directory() as path:
        yield path
