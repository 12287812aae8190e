"""Runs a command, and prints the peak of its memory: its own (anonymous) and with mapped pages.

Usage: python3 memory.py COMMAND ...
"""

import re
import subprocess
import sys
import time

began = time.monotonic()
process = subprocess.Popen(sys.argv[1:])
peaks = {"RssAnon": 0.0, "VmRSS": 0.0}
while process.poll() is None:
    try:
        with open(f"/proc/{process.pid}/status") as file:
            status = file.read()
    except OSError:
        break
    for name, peak in peaks.items():
        found = re.search(name + r":\s+(\d+)", status)
        if found:
            peaks[name] = max(peak, int(found[1]) / 1024)
    time.sleep(0.2)
code = process.wait()
seconds = time.monotonic() - began
print(
    f"exit {code}, {seconds:.1f} s, own memory {peaks['RssAnon']:.0f} MB, with mapped pages {peaks['VmRSS']:.0f} MB",
    file=sys.stderr,
)
sys.exit(code)
