from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.runtime.demo.process import Payments


@pytest.fixture
def payments(tmp_path: Path) -> Iterator[Payments]:
    service = Payments(tmp_path)
    yield service
    service.close()
