"""Best-arm identification on user functions."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent import futures
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from typing import Any

from bai_gym.errors import BudgetError, ParameterError, PullError
from bai_gym.live.evidence import Identification
from bai_gym.live.executor.executor import Executor
from bai_gym.live.executor.functions import Outcome, PullFunctions
from bai_gym.live.experiment import check_names, kind_of
from bai_gym.live.items import check_items
from bai_gym.live.study import PendingPull, Study
from bai_gym.live.terminal import Terminal
from bai_gym.rewards import Rewards
from bai_gym.validation import AnyPath, integer
from bai_gym.wings import hook

__all__ = ["identify"]


def identify(
    pull: PullFunctions | Mapping[str, Callable[..., Any]],
    num_arms: int | None = None,
    budget: float | None = None,
    agent: Any = "SR",
    *,
    guardrails: Mapping[str, str] | None = None,
    reward: str | None = None,
    arms: Iterable[str] | None = None,
    seed: int = 0,
    features: object = None,
    costs: Mapping[str, float] | Sequence[float] | None = None,
    earlier: Any = None,
    arm_column: str = "arm",
    reward_column: str = "reward",
    rewards: Rewards | str | None = None,
    items: Iterable[Any] | None = None,
    parallel: int = 1,
    timeout: float | None = None,
    on_error: str = "raise",
    retries: int | None = None,
    worst: float | Mapping[str, float] | None = None,
    run_in: str | futures.Executor = "auto",
    journal: AnyPath | None = None,
    progress: bool = True,
) -> Identification:
    """Find the best of several alternatives by a fixed number of noisy experiments.

    The alternatives are the arms 0 to K-1. An agent decides which of them to try next, given the rewards so far, and
    finally recommends the one that is best on average. Larger rewards are better: for a cost, return its negative. If
    others make the pulls, use :class:`bai_gym.live.Study`.

    With a timeout, pulls run in a worker process, which is killed when time is up. It has copies of the functions and
    of what they refer to (sent by cloudpickle): changes they make to variables do not come back, and what they print
    goes to standard error. Functions that cannot be sent run in a thread, and a warning says so: a pull that takes too
    long is then abandoned, but continues in the background.

    Args:
        pull: The experiment: a function of the arm that returns its reward, a finite number; or a list of functions
            without arguments, one for each arm; or a dict of such functions by name. A parameter named ``rng`` receives
            a NumPy generator, so that simulations are reproducible.
        num_arms: K, at least 2; may be left out with a list, a dict, or ``arms``.
        budget: Pulls over all arms, at least 1; with ``costs``, their total cost.
        agent: A name (``"SR"``, ``"SHAdaVar(delta=0.1)"``), a class or an instance, as for :func:`bai_gym.evaluate`;
            `bai-gym list agents` shows all. Default: successive rejects, which requires no oracle knowledge and has no
            parameters. Agents that require oracle knowledge (true variances, complexity) are rejected; a prior is
            allowed, as a parameter of the agent. One of fixed confidence, such as LUCB, stops when it is confident, or
            else at the budget.
        guardrails: Limits of what the functions measure beside the reward, such as ``{"latency": "<= 300"}``. They then
            return numbers by name, and wanted is the best arm of those whose guardrails hold on average, or none.
        reward: The name of the reward, with guardrails; None: the only one that has no limit.
        arms: Names of the arms, which a function of the arm then receives instead of its number.
        seed: Seed of the agent and of ``rng``, at least 0.
        features: ``(K, d)`` numbers that describe the arms, for agents that use them.
        costs: Cost of a pull of each arm, or what it is expected to be; the functions may then return a pair, the
            reward and what the pull has cost. See :class:`bai_gym.live.Study`.
        earlier: Earlier results from which the agent starts, see :class:`bai_gym.live.Study`.
        arm_column: Column of ``earlier`` that names the arm.
        reward_column: Column of ``earlier`` with the reward.
        rewards: The kind of rewards: ``"binary"``, ``"bounded(low, high)"``, ``"counts"`` or ``"real"``, see
            :class:`bai_gym.live.Study`; a pull that returns another number has failed.
        items: Questions, instances or seeds: the functions take one as a further argument, ``pull(arm, item)``, and the
            j-th pull of every arm is played on the same item, see :class:`bai_gym.live.Study`.
        parallel: Pulls made at a time, at least 1. If more than 1, each of so many workers is a process of its own,
            unless ``run_in`` says otherwise. Agents that play by blocks (SR, SH) give the same result for any number;
            sequential agents decide on the rewards that have arrived, so theirs depends on which pulls are faster.
        timeout: Time limit of a pull in seconds, above 0; None: no limit.
        on_error: What happens when a pull raises, takes too long, or returns no finite number of the kind of rewards.
            ``"raise"`` (default): the experiment ends with an error. ``"retry"``: the pull is made again, up to
            ``retries`` times; then ``worst`` counts, if it is given, else the experiment ends with an error.
            ``"worst"``: ``worst`` counts as its reward.
        retries: For ``on_error="retry"``, at least 1; None: 3.
        worst: A reward that is no better than any observed one, of the kind of rewards; with guardrails, by name.
        run_in: ``"auto"`` (default, see above), or always ``"here"``, in a ``"thread"``, in a ``"process"``, which also
            survives functions that crash; or a ``concurrent.futures.Executor``, such as ``client.get_executor()`` of
            Dask, on whose workers every pull is a task.
        journal: A file that keeps every observation, as JSON lines, each safely on the disk before the next pull. The
            same call resumes one that failed or was killed: no reward in the journal is observed again, and the result
            is that of an uninterrupted experiment, if the functions are deterministic or draw from ``rng`` (with a
            sequential agent in parallel, it is one of those that were possible).
        progress: Whether to show a live table of the arms while standard error is a terminal.

    Returns:
        The recommended arm with its evidence.

    Raises:
        PullError: A pull has failed, and ``on_error`` requires an error. Its cause is the original error, and its
            ``log`` has the pulls before it.
        OutputError: The journal cannot be written, or is of another experiment.
        BudgetError: The agent needs a larger budget.
        AgentError: The agent needs knowledge or features that are missing, cannot start from earlier results, or makes
            an impossible request.
        DataError: Earlier results cannot be read, or are not of the kind of rewards.
        ClusterError: The worker of an executor was lost; rewards that have arrived are in the journal.
        ParameterError: Another argument is invalid.
    """
    if budget is None:
        raise BudgetError("budget is missing: give the total number of pulls over all arms")
    parallel = integer(parallel, "parallel", least=1)
    if isinstance(pull, Mapping):
        if arms is not None:
            raise ParameterError("arms is given, but pull is a dict, whose keys name the arms: leave arms out")
        arms, pull = list(pull), list(pull.values())
    names = None if arms is None else check_names(arms)
    if names is not None and num_arms not in (None, len(names)):
        raise ParameterError(f"num_arms is {num_arms} and there are {len(names)} names: leave num_arms out")
    num_arms = num_arms if names is None else len(names)
    place = run_in
    if parallel > 1 and run_in == "auto":
        place = "process"
    kind = kind_of(rewards, earlier, arm_column, reward_column)
    played_on = None if items is None else check_items(items)
    policy: dict[str, Any] = {
        "timeout": timeout,
        "on_error": on_error,
        "retries": retries,
        "worst": worst,
        "rewards": kind if guardrails is None else hook("guardrails")(guardrails, reward),
        "items": played_on,
        "priced": costs is not None,
    }
    with contextlib.ExitStack() as stack:

        def executor(_: int) -> Executor:
            return stack.enter_context(Executor(pull, num_arms, arms=names, run_in=place, **policy))

        first = executor(0)
        study = Study(
            first.num_arms if names is None else names,
            budget,
            agent,
            guardrails=guardrails,
            reward=reward,
            seed=seed,
            features=features,
            costs=costs,
            earlier=earlier,
            arm_column=arm_column,
            reward_column=reward_column,
            rewards=kind,
            items=played_on,
            journal=journal,
            exclusive=True,
        )
        stack.enter_context(study)
        terminal = stack.enter_context(Terminal(study, shown=progress))
        try:
            if parallel == 1:
                _run(study, first, terminal)
            else:
                with ThreadPoolExecutor(parallel) as pool:
                    others = pool.map(executor, range(1, parallel))  # processes start at the same time
                    _run_parallel(study, [first, *others], pool, terminal)
        except PullError as error:
            error.log = study.log
            raise
        except KeyboardInterrupt as error:
            kept = "lost without a journal" if journal is None else f"in {journal}; the same call resumes"
            error.add_note(f"interrupted: the {len(study.log):,} rewards so far are {kept}")
            raise
        return study.result()


def _run(study: Study, executor: Executor, terminal: Terminal) -> None:
    """Make one pull after the other."""
    for pull in iter(lambda: study.ask(), []):
        outcome = _make(study, pull[0], executor)
        study.tell(pull[0], outcome.reward, cost=outcome.cost, error=outcome.error)
        terminal.update()


def _run_parallel(study: Study, executors: list[Executor], pool: ThreadPoolExecutor, terminal: Terminal) -> None:
    """Keep all executors busy; after an error, wait for the pulls in progress, so that no reward is lost."""
    idle = list(executors)
    running: dict[Future[Outcome], tuple[PendingPull, Executor]] = {}
    failure: PullError | None = None
    try:
        while True:
            for pull in study.ask(len(idle)) if idle and failure is None else []:
                executor = idle.pop()
                running[pool.submit(_make, study, pull, executor)] = pull, executor
            if not running:
                break
            for future in wait(running, return_when=FIRST_COMPLETED).done:
                pull, executor = running.pop(future)
                idle.append(executor)
                try:
                    outcome = future.result()
                except PullError as error:
                    failure = failure or error
                    continue
                study.tell(pull, outcome.reward, cost=outcome.cost, error=outcome.error)
                terminal.update()
    except BaseException:  # Ctrl-C: kill the pulls in progress, which the pool would wait for
        for executor in executors:
            executor.close()
        raise
    if failure is not None:
        raise failure


def _make(study: Study, pull: PendingPull, executor: Executor) -> Outcome:
    return executor.pull(pull.arm, (study.seed, "pull", pull.number), f"pull {pull.number}", pull.item_number)
