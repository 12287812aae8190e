"""What the numbers were measured on."""

import importlib.metadata
import os
import platform
import re
import subprocess
from pathlib import Path

INTERESTING = ("avx2", "fma", "avx512f", "avx512_bf16", "avx512_vnni", "amx_bf16", "amx_tile")


def output_of(*command: str) -> str:
    try:
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return "unknown"


def describe() -> dict:
    """Processor, memory, versions."""
    text = Path("/proc/cpuinfo").read_text()
    flags = re.search(r"^flags\s*: (.*)$", text, re.M)
    model = re.search(r"^model name\s*: (.*)$", text, re.M)
    memory = re.search(r"MemTotal:\s*(\d+)", Path("/proc/meminfo").read_text())
    has = set(flags.group(1).split()) if flags else set()
    return {
        "cpu": model.group(1).strip() if model else platform.machine(),
        "processors": len(os.sched_getaffinity(0)),
        "instructions": [name for name in INTERESTING if name in has],
        # What `--precision auto` means on this machine.
        "auto": "bf16" if {"amx_tile", "amx_bf16"} <= has or "avx512_bf16" in has else "f32",
        "memory_gb": round(int(memory.group(1)) / 1e6) if memory else None,
        "system": f"{platform.system()} {platform.release()}",
        "python": platform.python_version(),
        "torch": importlib.metadata.version("torch"),
        "jax": importlib.metadata.version("jax"),
        "rustc": output_of("rustc", "--version"),
        "compiler": output_of("c++", "--version").split("\n")[0],  # torch.compile uses it
        "commit": output_of("git", "rev-parse", "--short", "HEAD"),
        "changed_files": len(output_of("git", "status", "--porcelain").splitlines()),
    }


def name(about: dict) -> str:
    """Short, for file names."""
    words = re.sub(r"\(.*?\)|@.*|processor|cpu", " ", about["cpu"].lower())
    return "-".join(re.findall(r"[a-z0-9]+", words))[:40] or "machine"


def load() -> float:
    return os.getloadavg()[0]
