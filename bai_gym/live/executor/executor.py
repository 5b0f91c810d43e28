"""The executor: pulls of user functions with a timeout and an error policy."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent import futures
from typing import Any

from typing_extensions import override

from bai_gym.errors import ClusterError, ParameterError, PullError
from bai_gym.live.executor.callbacks import Callback, make_callback
from bai_gym.live.executor.functions import FailedPullError, Functions, Outcome, PullFunctions, Stream, one_line
from bai_gym.rewards import REAL
from bai_gym.validation import choice, integer, real

__all__ = ["POLICIES", "Executor"]

POLICIES = ("raise", "retry", "worst")
"""What can happen when a pull fails."""

RETRIES = 3


class Executor:
    """Runs user functions, with a timeout and an error policy.

    A pull fails if the function raises, takes longer than the timeout, returns anything but a finite number of the
    declared kind, or if its worker process dies.

    Args:
        pull: One function of the arm, or one for each arm, see :class:`Functions`.
        num_arms: K.
        timeout: Time limit of a pull in seconds, above 0; None: no limit.
        on_error: What happens when a pull fails. ``"raise"`` (default): :class:`PullError`. ``"retry"``: it is made
            again, up to ``retries`` times; then ``worst`` counts, if it is given, else the error is raised.
            ``"worst"``: ``worst`` counts as the reward.
        retries: For ``"retry"``: at least 1; None: 3.
        worst: A finite number, of the kind of rewards.
        run_in: Where pulls run, see :func:`bai_gym.live.executor.callbacks.make_callback`.
        arms: What one function of the arm receives in the place of its number; None: the number.
        rewards: The kind of rewards; or guardrails, which say what functions may return.
        items: What pulls are played on, a further argument of the functions; None: nothing.
        priced: Whether the functions may return a pair, the reward and what the pull has cost.

    Attributes:
        num_arms: K.
        rewards: The kind of rewards.
        takes_rng: Whether the functions take a generator.

    Raises:
        ParameterError: If an argument is invalid.
    """

    def __init__(
        self,
        pull: PullFunctions,
        num_arms: int | None = None,
        *,
        timeout: float | None = None,
        on_error: str = "raise",
        retries: int | None = None,
        worst: float | None = None,
        run_in: str | futures.Executor = "auto",
        arms: Sequence[object] | None = None,
        rewards: Any = REAL,
        items: Sequence[Any] | None = None,
        priced: bool = False,
    ) -> None:
        """Check everything, and start the worker process if there is to be one."""
        self._functions = Functions(pull, num_arms, arms, items, priced, rewards)
        self.num_arms = self._functions.num_arms
        self.takes_rng = self._functions.takes_rng
        self._timeout = (
            None if timeout is None else real(timeout, "timeout", above=0, rule="a number of seconds above 0")
        )
        choice(on_error, POLICIES, "on_error")
        if on_error == "raise" and worst is not None:
            raise ParameterError(
                "worst is given, but failed pulls are raised: give on_error='worst' or 'retry' with it"
            )
        if on_error == "worst" and worst is None:
            raise ParameterError("on_error='worst' needs worst=, the reward that counts when a pull fails")
        if on_error != "retry" and retries is not None:
            raise ParameterError("retries is given, but failed pulls are not repeated: give on_error='retry' with it")
        retries = integer(RETRIES if retries is None else retries, "retries", least=1)
        self.rewards = rewards
        self._worst = None if worst is None else rewards.check(worst, "worst")
        self._attempts = 1 + retries if on_error == "retry" else 1
        self._run_in = run_in
        self._callback: Callback | None = None
        if run_in != "auto" or timeout is not None:
            self._callback = make_callback(self._functions, self._timeout, run_in)

    def pull(self, arm: int, stream: Stream, what: str, item: int | None = None) -> Outcome:
        """Pull an arm, with retries if the policy says so.

        Args:
            arm: 0 to K-1.
            stream: Seed and address of the pull's random stream; every attempt has one of its own.
            what: Name of the pull, for messages: ``"pull 17"``.
            item: Number of the item, where there are any.

        Raises:
            PullError: If it fails, and the policy says so; its cause is the exception of the function.
            ClusterError: If the worker of an executor, on which it ran, is lost.
        """
        if self._callback is None:
            self._callback = make_callback(self._functions, self._timeout, self._run_in)
        for attempt in range(self._attempts):
            try:
                return self._callback.call(arm, (*stream, attempt), item)
            except ClusterError:  # no failure of the pull
                raise
            except (Exception, SystemExit) as error:
                cause = error
        own = isinstance(cause, FailedPullError)
        text = one_line(str(cause) if own else f"{type(cause).__name__}: {cause}".removesuffix(": "))
        tried = f" in each of {self._attempts} attempts" if self._attempts > 1 else ""
        if self._worst is None:
            raise PullError(f"{what} (arm {arm}) failed{tried}: {text}") from cause
        return Outcome(self._worst, text)

    def close(self) -> None:
        """End the worker process, if there is one; the next pull starts a new one."""
        callback, self._callback = self._callback, None  # first, so that a retry in another thread starts no new one
        if callback is not None:
            callback.close()

    def __enter__(self) -> Executor:
        """Close at the end of a ``with``."""
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @override
    def __getstate__(self) -> dict[str, Any]:
        """Leave the worker out of copies: each starts its own."""
        return {**self.__dict__, "_callback": None}
