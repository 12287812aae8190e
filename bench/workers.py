"""Worker processes, and how they are measured in turn."""

import json
import os
import statistics
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from time import perf_counter, sleep

from settings import Setup, our_settings

HERE = Path(__file__).parent
CACHE = HERE / ".cache"
TICKS = os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True)
class Variant:
    """One way of computing: an engine and how it is used."""

    engine: str  # ours, torch or jax
    how: str  # precision for ours, otherwise compilation and precision

    @property
    def label(self) -> str:
        return f"{self.engine} {self.how}"

    @property
    def precision(self) -> str:
        return self.how.rsplit("-", 1)[-1]

    def command(self, setup: Setup) -> list[str]:
        values = setup.to_dict()
        if self.engine == "ours":
            values |= {"precision": self.how, "settings": our_settings(setup, self.how)}
            return [os.environ["CPCVAE_BENCH_WORKER"], json.dumps(values)]
        script = HERE / f"{self.engine}_worker.py"
        return [sys.executable, str(script), json.dumps(values | {"variant": self.how})]


OURS = [Variant("ours", "bf16"), Variant("ours", "f32")]
TORCH_EAGER = [Variant("torch", "eager-f32"), Variant("torch", "eager-bf16")]
TORCH_COMPILED = [
    Variant("torch", "compile-f32"),
    Variant("torch", "compile-bf16"),
    Variant("torch", "compile-step-f32"),
]
JAX = [Variant("jax", "jit-f32")]

# Whether PyTorch's threads spin while they wait; `sections.tune` finds what is faster.
# Never for long: a worker that spins while another is measured takes its processor.
WAIT_POLICIES = {
    "sleep": {"OMP_WAIT_POLICY": "PASSIVE"},
    "spin for less than a millisecond, then sleep": {"GOMP_SPINCOUNT": "100000"},
}
environment: dict[str, dict[str, str]] = {"ours": {}, "torch": {}, "jax": {}}


def processors(threads: int) -> set[int]:
    """Processors for so many threads: one of each core first, then the cores' second ones."""

    def rank(cpu: int) -> tuple[int, int]:
        try:
            path = f"/sys/devices/system/cpu/cpu{cpu}/topology/thread_siblings_list"
            text = Path(path).read_text().replace("-", ",")
            return sorted(int(part) for part in text.split(",")).index(cpu), cpu
        except (OSError, ValueError):
            return 0, cpu

    allowed = sorted(os.sched_getaffinity(0), key=rank)
    return set(allowed[:threads])


def busy_seconds() -> float:
    """What all processors of the machine have worked (or were taken away) since it started."""
    user, nice, system, _idle, _wait, irq, soft, steal = (
        int(value) for value in Path("/proc/stat").read_text().split("\n")[0].split()[1:9]
    )
    return (user + nice + system + irq + soft + steal) / TICKS


class WorkerFailed(Exception):
    """A worker answered with an error, or died."""


class Worker:
    """A process that computes with one variant in one set-up, on as many processors as threads."""

    def __init__(self, variant: Variant, setup: Setup):
        self.variant, self.setup = variant, setup
        logs = CACHE / "logs"
        logs.mkdir(parents=True, exist_ok=True)
        self.log = logs / f"{variant.label} {setup.method}.log".replace(" ", "-")
        chosen = processors(setup.threads)
        self.process = subprocess.Popen(
            variant.command(setup),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self.log.open("w"),
            text=True,
            env=os.environ | environment[variant.engine],
            preexec_fn=lambda: os.sched_setaffinity(0, chosen),
        )
        self.answer()

    def answer(self) -> dict:
        line = self.process.stdout.readline()
        if not line:
            tail = self.log.read_text().strip().split("\n")[-1][:300]
            raise WorkerFailed(f"{self.variant.label} died: {tail}")
        answer = json.loads(line)
        if "error" in answer:
            raise WorkerFailed(f"{self.variant.label}: {answer['error']}")
        return answer

    def ask(self, op: str, **values) -> dict:
        try:
            self.process.stdin.write(json.dumps({"op": op, **values}) + "\n")
            self.process.stdin.flush()
        except BrokenPipeError:
            pass  # `answer` says why
        return self.answer()

    def cpu_seconds(self) -> float:
        fields = Path(f"/proc/{self.process.pid}/stat").read_text().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / TICKS

    def close(self) -> None:
        self.process.stdin.close()
        try:
            self.process.wait(timeout=20)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


@dataclass
class Measured:
    """The times of one variant."""

    rounds: list[list[float]] = field(default_factory=list)
    losses: list[float] = field(default_factory=list)
    warm_up: float = 0.0  # seconds, compilation included
    error: str = ""
    cut: bool = False  # fewer rounds than planned, for want of time
    idle: float = 0.0  # processors that the waiting workers used, at most
    foreign: list[float] = field(default_factory=list)  # processors that others used

    def seconds(self) -> list[float]:
        return [second for round_ in self.rounds for second in round_]

    def to_dict(self) -> dict:
        seconds = self.seconds()
        if not seconds:
            return {"error": self.error}
        return {
            "median": statistics.median(seconds),
            "best": min(seconds),
            "steps": len(seconds),
            "cut": self.cut,
            "first_loss": self.losses[0] if self.losses else None,
            "last_loss": self.losses[-1] if self.losses else None,
            "losses_finite": all(abs(loss) < 1e30 for loss in self.losses),
            "warm_up": self.warm_up,
            "idle_processors": self.idle,
            "foreign_processors": statistics.median(self.foreign),
            "rounds": self.rounds,
        }


@dataclass(frozen=True)
class Effort:
    """How much is measured."""

    rounds: int
    count: int  # steps a round
    lead: int = 1  # steps before them that fill caches and queues
    warm_up: int = 3
    budget: float = 60.0  # seconds after which a variant gets no further round


def alternate(workers: dict[str, Worker], effort: Effort, op: str = "steps", **values) -> dict:
    """Measures workers in turn, so that what the machine does to one it does to all. Returns a
    `Measured` for each name."""
    measured = {name: Measured() for name in workers}
    for name, worker in workers.items():
        begin = perf_counter()
        try:
            if op == "steps":
                answer = worker.ask(op, lead=effort.warm_up, count=0)
                measured[name].losses += answer["losses"]
            else:
                worker.ask(op, repeats=1, **values)
        except WorkerFailed as failure:
            measured[name].error = str(failure)
        measured[name].warm_up = perf_counter() - begin
    names = [name for name in workers if not measured[name].error]
    spent = dict.fromkeys(names, 0.0)
    for turn in range(effort.rounds):
        # Nobody always comes after the same one.
        shift = turn % max(len(names), 1)
        for name in names[shift:] + names[:shift]:
            if spent[name] > effort.budget:
                measured[name].cut = True
                continue
            worker = workers[name]
            sleep(0.05)  # threads of the last one stop spinning
            idle_before = {n: w.cpu_seconds() for n, w in workers.items() if n in spent}
            busy, begin = busy_seconds(), perf_counter()
            if op == "steps":
                answer = worker.ask(op, lead=effort.lead, count=effort.count)
                measured[name].losses += answer["losses"]
            else:
                answer = worker.ask(op, repeats=effort.count, **values)
            took = perf_counter() - begin
            used = {n: workers[n].cpu_seconds() - cpu for n, cpu in idle_before.items()}
            others = sum(cpu for n, cpu in used.items() if n != name)
            measured[name].idle = max(measured[name].idle, others / took)
            foreign = busy_seconds() - busy - sum(used.values())
            measured[name].foreign.append(max(foreign, 0.0) / took)
            measured[name].rounds.append(answer["seconds"])
            spent[name] += took
    return measured
