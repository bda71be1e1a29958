"""What a mechanism is: it chooses, group by group, what is announced in place of the true decision mapping."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import ClassVar, Literal, NamedTuple, Protocol, TypeVar

import pandas as pd

from atr.core.announced import Announced
from atr.core.arrays import FloatArray, IntArray, Values
from atr.core.fidelity import Fidelity, Objective
from atr.core.policy import Policy
from atr.core.protected import Protection
from atr.core.regions import Regions

P = TypeVar("P", bound=Policy, contravariant=True)


class Terms(NamedTuple):
    """What a report states of a mechanism's part of the policy; None where a mechanism knows no such thing.

    Attributes
    ----------
    group_rates
        Whether the rates of groups are announced as they are.
    objective
        ``privacy``: the smallest confidence at this fidelity. ``fidelity``: the strictest promise of the ladder that
        the ceiling allows.
    fidelity
        The kind of promise, and the level that is demanded; None where every region has limits of its own.
    whole_numbers
        Whether a report that tells whoever counts in whole numbers more than the ceiling is refused, or says so.
    step, least
        The grid of limits, probability, and how many rules must be left.
    """

    group_rates: Literal["exact", "free"] = "exact"
    objective: Objective | None = None
    fidelity: dict[str, float | None] | None = None
    whole_numbers: Literal["refuse", "state"] | None = None
    step: float | None = None
    least: int | None = None


class Mechanism(Protocol[P]):
    """A way to choose what is announced.

    All regions that it is given are those of groups that are to be announced: groups that are withheld, and those that
    show their rates only, are not its business.
    """

    name: ClassVar[str]
    """The value of ``policy.mechanism`` in the programme file."""
    policy: ClassVar[type[Policy]]
    """The keys that ``policy`` has in the programme file, and the files of decision regions that they name."""
    prior_suffices: ClassVar[bool] = True
    """Whether every group may be announced in which prior knowledge leaves readers below the ceiling."""

    def terms(self, policy: P) -> Terms:
        """Give what a report states of a policy."""

    def check_programme(self, regions: Regions, policy: P) -> None:
        """Check what the programme declares of decision regions, whatever was decided in them; by default nothing.

        Parameters
        ----------
        regions
            All groups that are to be announced.
        policy
            The programme's policy.

        Raises
        ------
        ProgrammeError
            If something that the policy needs to know of a region is not declared.
        """
        return

    def check_decisions(self, regions: Regions, policy: P) -> None:
        """Check what must hold of the true decisions before anything is solved; by default nothing.

        Parameters
        ----------
        regions
            All groups that are to be announced.
        policy
            The programme's policy.

        Raises
        ------
        RefusedError
            If the policy cannot be kept; what is in the way is in its private part.
        """
        return

    def solve(self, regions: Regions, policy: P) -> pd.DataFrame:
        """Compute what can be computed of every group on its own. Private.

        Parameters
        ----------
        regions
            Some whole groups; the result for a group is the same whichever others it is solved with.
        policy
            The programme's policy.

        Returns
        -------
        One row for each group, in their order; numbers only.
        """

    def may_be_told_anew(self, group: Regions, policy: P) -> bool:
        """Tell whether anything new may be told of a group that has changed, beside what versions before told of it.

        Parameters
        ----------
        group
            One group, with what versions told of it (:attr:`Regions.versions`).
        policy
            The mechanism's.
        """
        return True

    def announceable(
        self, people: IntArray, labels: Sequence[Values], protection: Protection, outcomes: int, policy: P
    ) -> bool:
        """Tell whether a QID group may be announced, from numbers of people and the policy alone.

        By default wherever prior knowledge leaves a reader at or below every ceiling.

        Parameters
        ----------
        people
            (m,) people of its regions, as a reader knows them.
        labels
            (m,) display values of their sensitive attributes.
        protection
            Which sets of people are protected.
        outcomes
            How many outcomes there are.
        policy
            The programme's policy.
        """
        ceiling, whole = Fraction(str(policy.ceiling)), int(people.sum())
        return all(
            int(people[members].sum()) <= whole * ceiling * Fraction(str(protection.factor(label)))
            for label, members in protection.labelled(labels).items()
        )

    def announce(self, regions: Regions, solved: pd.DataFrame, policy: P) -> Announced:
        """Choose the announced mapping of all groups together.

        Parameters
        ----------
        regions
            All groups that are to be announced.
        solved
            The rows of :meth:`solve` for all of them.
        policy
            The programme's policy.

        Returns
        -------
        The announced mapping, what is promised of it, and how sure it makes readers.

        Raises
        ------
        RefusedError
            If the ceiling cannot be met; which groups bind is in its private part.
        """

    def columns(self, solved: pd.DataFrame, promise: Fidelity | None, policy: P) -> pd.DataFrame:
        """Give what the reviewer's dossier shows of every group beside its confidences: ``beta``. Private.

        Parameters
        ----------
        solved
            The rows of :meth:`solve`.
        promise
            What was promised; None where the run was refused.
        policy
            The programme's policy.

        Returns
        -------
        One row for each row of ``solved``, with a column ``beta``: the smallest confidence the group can have.
        """

    def trade_off(self, promise: Fidelity | None, policy: P) -> tuple[Literal["delta", "alpha"], float] | None:
        """Give the fidelity to mark on the dossier's curve of optimal privacy by fidelity.

        Parameters
        ----------
        promise
            What was promised; None where the run was refused.
        policy
            The programme's policy.

        Returns
        -------
        Its kind and level; None, as by default, where there is no such curve.
        """
        return None

    def promise(self, kind: str, level: float | None, limits: FloatArray | None = None) -> Fidelity | None:
        """Make a promise again from what a report says of it.

        Parameters
        ----------
        kind, level
            As :attr:`Fidelity.kind` and :attr:`Fidelity.level` give them.
        limits
            (n, outcomes, 2) as :attr:`Fidelity.limits`; None where one level is promised of all regions.

        Returns
        -------
        None if this mechanism makes no such promise.
        """
