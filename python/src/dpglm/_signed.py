"""Who wrote an artefact, and that nobody changed it."""

from __future__ import annotations

import json
import os

from . import _native
from ._certificate import Certificate

__all__ = ["keygen", "verify"]


def keygen(path: str | os.PathLike[str]) -> str:
    """Makes a key pair: writes the secret key to a new file that only its owner can read, and gives the public key.

    >>> import pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     len(keygen(pathlib.Path(folder) / "curator.key"))
    64
    """
    return _native.keygen(os.fspath(path))


def verify(path: str | os.PathLike[str], *, key: str) -> Certificate:
    """The certificate of an artefact that the holder of this public key signed: ``dpglm show --key`` in memory.

    Raises ``ValueError`` if the signature beside the file (``path`` with ``.sig``) is by another key, or if a single byte of
    the file was changed, added or taken away.

    >>> import pathlib, tempfile
    >>> import numpy as np
    >>> from dpglm import PrivateMean
    >>> mean = PrivateMean(epsilon=1.0, delta=1e-6, feature_bounds=(-1, 1)).fit(np.zeros((500, 2)))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     secret, artefact = pathlib.Path(folder) / "curator.key", pathlib.Path(folder) / "mean.json"
    ...     key = keygen(secret)
    ...     mean.save(artefact, sign=secret)
    ...     verify(artefact, key=key) == mean.certificate_
    True
    """
    artefact = _native.verify_artefact(os.fspath(path), str(key))
    return Certificate.from_json(json.dumps(json.loads(artefact)["certificate"]))
