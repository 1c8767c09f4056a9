"""A sample of the mutated requests and damaged stores; `service_mutations.py` and `store_mutations.py` run many."""

import pytest

from fuzz import service_mutations, store_mutations

pytestmark = pytest.mark.slow


def test_mutated_requests_are_answered_in_words_and_in_time(tmp_path):
    seen = service_mutations.run(tmp_path, 600, seed=1, slow=60.0)  # some of it may have to be compiled first
    assert seen.total() == 600
    assert len(seen) > 6  # they are wrong in many ways


def test_damaged_stores_are_read_or_refused_in_words(tmp_path):
    seen = store_mutations.run(tmp_path, store_mutations.make_models(tmp_path), 15, seed=1)
    assert seen["read or refused in words"] == 15
