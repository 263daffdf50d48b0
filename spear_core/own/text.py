"""A text column as features: its terms, weighed by TF-IDF."""

from typing import Any

import numpy as np

from spear_core.errors import DataDamaged
from spear_core.own.columns import Table
from spear_core.own.given import short
from spear_core.wanted import still_wanted


def terms_of(table: Table, name: str, most: int) -> tuple[Any, list[str]]:
    """TF-IDF of every node's text as CSR, (N, F), and the terms.

    Terms of one node alone say nothing of others, those of more than half of the nodes nothing of
    one; the most frequent of the rest are kept.
    """
    from sklearn.feature_extraction.text import TfidfVectorizer

    texts = table.texts(name).to_pylist()
    still_wanted()
    least = 2 if len(texts) > 20 else 1
    wanted = TfidfVectorizer(
        max_features=most, min_df=least, max_df=0.5, sublinear_tf=True, dtype=np.float32
    )
    try:
        x = wanted.fit_transform(texts)
    except ValueError:
        raise DataDamaged(
            f"{table.name}, column {short(name)}, has no term that two nodes share; name the "
            "column that holds the text."
        ) from None
    still_wanted()
    return x.tocsr(), wanted.get_feature_names_out().tolist()
