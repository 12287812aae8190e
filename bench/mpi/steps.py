"""Milliseconds per step of a run, from the times of its TensorBoard events, and bytes sent.

Usage: python3 steps.py FOLDER LOG. The first two steps are skipped, since they allocate memory.
"""

import re
import statistics
import struct
import sys
from pathlib import Path


def events(data):
    """(wall time, step) of each record: length, checksum, message, checksum."""
    place = 0
    while place < len(data):
        (length,) = struct.unpack_from("<Q", data, place)
        message = data[place + 12 : place + 12 + length]
        place += length + 16
        # Field 1 is the time, a double; field 2, if present, is the step, a varint.
        if message[0] == 0x09 and len(message) > 9 and message[9] == 0x10:
            step, shift = 0, 0
            for byte in message[10:]:
                step |= (byte & 0x7F) << shift
                shift += 7
                if byte < 0x80:
                    break
            yield struct.unpack_from("<d", message, 1)[0], step


def main():
    """Prints median and best."""
    times = {}
    for path in Path(sys.argv[1]).rglob("events*"):
        for time, step in events(path.read_bytes()):
            times[step] = min(time, times.get(step, time))
    steps = sorted(step for step in times if step > 2)
    apart = [1000 * (times[b] - times[a]) for a, b in zip(steps, steps[1:]) if b == a + 1]
    line = f"{statistics.median(apart):.1f} ms, best {min(apart):.1f}, of {len(apart)} steps"
    log = Path(sys.argv[2]).read_text()
    sent = re.search(r"sent (\d+) bytes in (\d+) messages, which took ([\d.]+) s", log)
    if sent:
        count = max(times)
        line += f"; {int(sent[1]) / count:,.0f} bytes a step, {1000 * float(sent[3]) / count:.1f} ms in messages"
    print(line)


main()
