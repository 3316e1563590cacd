"""What all estimators share: parameters, cloning, names of features, and what is said beside a fit."""

from __future__ import annotations

import html
import inspect
import json
import numbers
import os
import warnings
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from . import _native, _plot, _tidy
from ._certificate import Certificate
from ._data import Rows, adapt, column
from ._declare import Declared, declare_features
from ._ledger import Ledger
from ._report import Report, report
from ._warnings import UnpaidSelectionWarning, tell

__all__ = ["Estimator", "Summary"]


class NotFittedError(ValueError, AttributeError):
    """A result was asked for before ``fit``."""


class Lineage:
    """The fits of an estimator and of all its clones, in this process."""

    def __init__(self) -> None:
        self.fits = 0


class Summary:
    """A table of estimates and the sentence of its certificate, as text and in notebooks."""

    def __init__(self, artefact: dict[str, Any], table: str, certificate: Certificate) -> None:
        self._artefact = artefact
        self._table = table
        self._certificate = certificate

    def __str__(self) -> str:
        count = len(self._certificate.conditions)
        conditions = f"\nThe promise has {count} conditions of use: certificate_.conditions lists them." if count else ""
        return f"{self._table}\n{self._certificate}{conditions}"

    __repr__ = __str__

    def to_frame(self) -> Any:
        """The estimates as a pandas data frame, one row a term, the terms as its index."""
        return _tidy.tidy(self._artefact).set_index("term")

    def _repr_html_(self) -> str:
        document = self._artefact
        estimates = document.get("estimates") or document.get("coefficients") or document.get("means") or {}
        errors, intervals = document.get("standard_errors"), document.get("intervals")
        determined = document.get("determined") if intervals else None
        heads = ["", "estimate"] + (["std. error"] if errors else [])
        heads += [f"{100 * document['level']:g}% from", "to"] if intervals else []
        lines = []
        for name, estimate in estimates.items():
            cells = [estimate] + ([errors[name]] if errors else []) + (list(intervals[name]) if intervals else [])
            numbers_ = "".join(f"<td style='text-align: right'>{cell:.4g}</td>" for cell in cells)
            hidden = "<td>not determined</td>" if determined and not determined[name] else ""
            lines.append(f"<tr><th style='text-align: left'>{html.escape(name)}</th>{numbers_}{hidden}</tr>")
        title = html.escape(self._table.splitlines()[0])
        head = "".join(f"<th>{html.escape(h)}</th>" for h in heads)
        return (
            f"<table><caption>{title}</caption><thead><tr>{head}</tr></thead><tbody>{''.join(lines)}</tbody></table>"
            f"{self._certificate._repr_html_()}"
        )


class Inference:
    """What follows from a fitted model: a text, and ``document``, the same as the command line's JSON."""

    def __init__(self, document: str, text: str) -> None:
        self.document: dict[str, Any] = json.loads(document)
        self._text = text

    def __str__(self) -> str:
        return self._text

    __repr__ = __str__

    def to_frame(self) -> Any:
        """Its coefficients as a pandas data frame."""
        import pandas as pd

        return pd.DataFrame(self.document["coefficients"]).set_index("name")


class Estimator:
    """Parameters as attributes, as scikit-learn wants them; scikit-learn itself is not needed."""

    _lineage: Lineage

    def __new__(cls, *args: Any, **kwargs: Any) -> Estimator:
        self = super().__new__(cls)
        self._lineage = Lineage()
        return self

    # Parameters.

    @classmethod
    def _parameters(cls) -> list[str]:
        return sorted(name for name in inspect.signature(cls.__init__).parameters if name != "self")

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The parameters by name."""
        return {name: getattr(self, name) for name in self._parameters()}

    def set_params(self, **params: Any) -> Estimator:
        """Sets parameters by name."""
        known = self._parameters()
        for name, value in params.items():
            if name not in known:
                raise ValueError(
                    f"Invalid parameter {name!r} for estimator {self!r}. Valid parameters are: {known!r}."
                )
            setattr(self, name, value)
        return self

    def __sklearn_clone__(self) -> Estimator:
        from sklearn.base import clone

        params = {name: clone(value, safe=False) for name, value in self.get_params().items()}
        copy = type(self)(**params)
        # Fits of clones look at the same rows: they are counted together.
        copy._lineage = self._lineage
        return copy

    def __repr__(self, N_CHAR_MAX: int = 700) -> str:
        signature = inspect.signature(type(self).__init__).parameters
        shown = []
        for name in self._parameters():
            value, default = getattr(self, name), signature[name].default
            if not (value is default or (default is not inspect.Parameter.empty and repr(value) == repr(default))):
                shown.append(f"{name}={value!r}")
        text = f"{type(self).__name__}({', '.join(shown)})"
        return text if len(text) <= N_CHAR_MAX else text[: N_CHAR_MAX - 3] + "..."

    def __getstate__(self) -> dict[str, Any]:
        state = dict(self.__dict__)
        state.pop("_native_artefact", None)
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "artefact_")

    def __sklearn_tags__(self) -> Any:
        from sklearn.utils import InputTags, Tags, TargetTags

        # A missing or infinite cell follows the public rule: an error would depend on one private row.
        return Tags(
            estimator_type=None,
            target_tags=TargetTags(required=True),
            input_tags=InputTags(sparse=True, allow_nan=True),
            non_deterministic=getattr(self, "epsilon", None) != float("inf"),
        )

    # Fitting.

    def _read(self, X: Any, *, reset: bool) -> tuple[Rows, Declared]:
        """The rows and what is declared of them; at a fit their names and number are kept."""
        if X is None:
            raise ValueError(f"{type(self).__name__} requires X to be passed, got None: give one row a record")
        rows = adapt(X)
        if reset:
            self._keep_names(rows)
        else:
            self._check_names(rows)
        if rows.rows < 1 or rows.width < 1:
            counts = f"{rows.rows} sample(s)" if rows.rows < 1 else f"{rows.width} feature(s)"
            raise ValueError(
                f"Found array with {counts} (shape=({rows.rows}, {rows.width})) while a minimum of 1 is required by "
                f"{type(self).__name__}: check that the export was complete"
            )
        names = rows.called() if reset else self._names_at_fit(rows)
        return rows, self._declared(names)

    def _declared(self, names: list[str]) -> Declared:
        return declare_features(self.feature_bounds, names, getattr(self, "magnitudes", None))  # type: ignore[attr-defined]

    def _keep_names(self, rows: Rows) -> None:
        self.n_features_in_ = rows.width
        if rows.names is not None:
            self.feature_names_in_ = np.asarray(rows.names, dtype=object)
        elif hasattr(self, "feature_names_in_"):
            del self.feature_names_in_

    def _names_at_fit(self, rows: Rows) -> list[str]:
        names = getattr(self, "feature_names_in_", None)
        return [str(name) for name in names] if names is not None else [f"x{j}" for j in range(rows.width)]

    def _check_names(self, rows: Rows) -> None:
        fitted = getattr(self, "feature_names_in_", None)
        me = type(self).__name__
        if fitted is None and rows.names is not None:
            warnings.warn(f"X has feature names, but {me} was fitted without feature names", UserWarning, stacklevel=4)
        elif fitted is not None and rows.names is None:
            warnings.warn(
                f"X does not have valid feature names, but {me} was fitted with feature names", UserWarning, stacklevel=4
            )
        elif fitted is not None and rows.names is not None and list(fitted) != rows.names:
            expected, found = set(fitted), set(rows.names)
            message = "The feature names should match those that were passed during fit.\n"

            def listed(heading: str, names: set[str]) -> str:
                shown = "".join(f"- {name}\n" for name in sorted(names)[:5])
                return f"{heading}\n{shown}{'- ...' if len(names) > 5 else ''}" if names else ""

            message += listed("Feature names unseen at fit time:", found - expected)
            message += listed("Feature names seen at fit time, yet now missing:", expected - found)
            if expected == found:
                message += "Feature names must be in the same order as they were in fit.\n"
            raise ValueError(message)
        if rows.width != self.n_features_in_:
            raise ValueError(
                f"X has {rows.width} features, but {me} is expecting {self.n_features_in_} features as input"
            )

    def _encode(
        self,
        rows: Rows,
        declared: Declared,
        *,
        intercept: bool,
        constant: bool,
        response: tuple[str, Any, str] | None = None,
        units: tuple[str, Any] | None = None,
        weights: tuple[str, Any, tuple[float, float]] | None = None,
        strict: bool = False,
        for_means: bool = False,
        schema: str | None = None,
    ) -> Any:
        single = rows.columns is not None and all(getattr(c, "dtype", None) == np.float32 for c in rows.columns)
        how = {
            "schema": schema or declared.schema(intercept=intercept, missing=str(getattr(self, "missing", "fill"))),
            "name": "X",
            "strict": strict,
            "constant_column": constant,
            "for_means": for_means,
            "needs_target": True,
            "single": single,
        }
        if rows.sparse is not None:
            return _native.encode_sparse(how, rows.sparse, declared.names, response, units, weights)
        if rows.matrix is not None and not declared.has_levels:
            return _native.encode_matrix(how, rows.matrix, declared.names, response, units, weights)
        return _native.encode_columns(how, list(zip(declared.names, rows.by_column())), response, units, weights)

    def _tell(self, table: Any, said: list[str], notes: str | None = None) -> None:
        """Says what the fit had to say, and to the curator what the public rule changed."""
        tell(said, table.curator_notes if notes is None else notes, stacklevel=3)

    def _count_fit(self) -> None:
        """Warns where clones of one estimator are fitted again and again: a choice among them is not paid for."""
        self._lineage.fits += 1
        if self._lineage.fits == 2 and self.epsilon != float("inf"):  # type: ignore[attr-defined]
            warnings.warn(
                "a second fit of this estimator or of its clones, as in a search or cross-validation: each fit by itself keeps "
                "its promise, but together they cost more, and choosing among them by a score looks at the rows once more. "
                "Nothing pays for that selection; tune=... chooses privately from the same budget",
                UnpaidSelectionWarning,
                stacklevel=3,
            )

    def _keep(self, artefact_json: str) -> dict[str, Any]:
        self.artefact_ = artefact_json
        self.__dict__.pop("_native_artefact", None)
        document: dict[str, Any] = json.loads(artefact_json)
        self.certificate_ = Certificate.from_json(self._artefact().certificate())
        errors, intervals = document["standard_errors"], document["intervals"]
        self.standard_errors_ = None if errors is None else dict(errors)
        estimates, determined = document.get("estimates"), document.get("determined")
        self.estimates_ = None if estimates is None else dict(estimates)
        self.determined_ = None if determined is None else dict(determined)
        self.bounds_ = document.get("bounds")
        self.intervals_ = None if intervals is None else {name: (low, high) for name, (low, high) in intervals.items()}
        return document

    def _artefact(self) -> Any:
        self._check_fitted()
        if "_native_artefact" not in self.__dict__:
            self._native_artefact = _native.Artefact(self.artefact_)
        return self._native_artefact

    def _check_fitted(self) -> None:
        if hasattr(self, "artefact_"):
            return
        message = (
            f"This {type(self).__name__} instance is not fitted yet. Call 'fit' with appropriate arguments before using this "
            "estimator."
        )
        try:
            from sklearn.exceptions import NotFittedError as Theirs
        except ImportError:
            raise NotFittedError(message) from None
        raise Theirs(message)

    # Showing.

    def summary(self) -> Summary:
        """The table of estimates with the certificate's sentence."""
        return Summary(json.loads(self._artefact().json()), self._artefact().table(), self.certificate_)

    def infer(
        self,
        *,
        level: float | None = None,
        ratios: bool = False,
        simultaneous: str | None = None,
        contrasts: Sequence[str] = (),
        at: Mapping[str, Any] | None = None,
        versus: Mapping[str, Any] | None = None,
    ) -> Inference:
        """Tests of each coefficient and of each term's together (Wald), of a model that was fitted with intervals.

        With ``ratios``, odds or rate ratios; with ``simultaneous`` (``"bonferroni"``, ``"max-z"``), intervals that hold together;
        ``contrasts`` are combinations like ``"sex=m - 2 * age"``; ``at`` gives public values to predict at, with the effect of a change of
        each column there, and ``versus`` others to compare them with. All of it follows from the artefact: it costs no privacy."""

        def words(values: Mapping[str, Any] | None) -> list[tuple[str, str]] | None:
            return None if values is None else [(str(name), str(value)) for name, value in values.items()]

        level = plain_number("level", level)
        found = self._artefact().summary(level, bool(ratios), simultaneous, list(contrasts), words(at), words(versus))
        return Inference(*found)

    def compare(self, other: Estimator) -> Inference:
        """Another model beside this one, both fitted with intervals: the difference of each coefficient."""
        return Inference(*self._artefact().compare(other._artefact()))

    def tidy(self) -> Any:
        """The estimates as a pandas data frame, one row a term: ``estimate``, ``std_error``, ``statistic`` (z), ``p_value``, ``conf_low``,
        ``conf_high`` and ``determined``, as far as there are any."""
        return _tidy.tidy(json.loads(self.to_json()))

    def glance(self) -> Any:
        """A pandas data frame of one row about the fit: family, method, target, ``n``, grade, epsilon and delta."""
        return _tidy.glance(json.loads(self.to_json()))

    def plot(self, kind: str = "coefficients", *, ax: Any = None) -> Any:
        """Draws the estimates with their intervals (``"coefficients"``) or the privacy curve (``"privacy"``) with Matplotlib; gives the
        axes."""
        self._check_fitted()
        if kind == "privacy":
            return _plot.privacy_curve(self.certificate_, ax)
        if kind != "coefficients":
            raise ValueError(f"kind must be one of coefficients, privacy, got {kind!r}: choose one of them")
        document = json.loads(self.to_json())
        level = document["level"] if document["intervals"] else None
        return _plot.coefficients(_tidy.terms(document), level, ax)

    def report(
        self, *others: Any, names: list[str] | None = None, ledger: Ledger | str | os.PathLike[str] | None = None
    ) -> Report:
        """One page for who decides, who computes and who reviews, beside other results if given: :func:`dpglm.report`."""
        return report(self, *others, names=names, ledger=ledger)

    def to_json(self) -> str:
        """The artefact, as ``dpglm fit --output`` or ``dpglm mean --output`` writes it."""
        return str(self._artefact().json())

    def save(self, path: str | os.PathLike[str], *, sign: str | os.PathLike[str] | None = None) -> None:
        """Writes the artefact, whole or not at all: ``dpglm show`` and ``dpglm predict`` read it.

        ``sign`` names a file with a secret key (:func:`dpglm.keygen`). The signature is written beside the artefact, as ``path``
        with ``.sig``; :func:`dpglm.verify` and ``dpglm show --key`` check it."""
        _native.save_artefact(self.to_json(), os.fspath(path), None if sign is None else os.fspath(sign))

    def _repr_html_(self) -> str:
        if not hasattr(self, "artefact_"):
            return f"<pre>{html.escape(repr(self))}</pre>"
        return self.summary()._repr_html_()


def units_of(units: Any, rows: int) -> tuple[str, Any] | None:
    """What a unit is called, and whose row each row is; ids may be of any kind."""
    if units is None:
        return None
    cells = column(units)
    count = len(cells[0] if isinstance(cells, tuple) else cells)
    if count != rows:
        raise ValueError(
            f"Found input variables with inconsistent numbers of samples: {[rows, count]}: give one unit's id for each row"
        )
    return str(name_of_unit(units)), cells


def name_of_unit(units: Any) -> str | None:
    """What a unit is called, where there are units."""
    return None if units is None else str(getattr(units, "name", None) or "unit")


def plain_number(name: str, value: Any, kind: type = float) -> Any:
    """A number as the library takes it; refuses what is none."""
    if value is None:
        return None
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, numbers.Real):
        raise TypeError(f"{name} must be a number, got {type(value).__name__}: write it like 0.5")
    if kind is int:
        if not isinstance(value, numbers.Integral):
            raise TypeError(f"{name} must be a whole number, got {type(value).__name__}: write it like 10")
        if value < 0:
            raise ValueError(f"{name} must be a whole number of at least 0, got {value}: write it like 10")
        return int(value)
    return float(value)
