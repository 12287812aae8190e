"""Writes a large Parquet table: 52 columns of random numbers and a label in every 100,000th row.

Usage: python3 parquet.py ROWS FILE, with pyarrow and numpy. 100 million rows are 20.8 GB.
"""

import sys

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

COLUMNS, GROUP, EVERY = 52, 500_000, 100_000
rows, path = int(sys.argv[1]), sys.argv[2]
random = np.random.Generator(np.random.SFC64(0))
schema = pa.schema([(f"x{i}", pa.float32()) for i in range(COLUMNS)] + [("y", pa.string())])
with pq.ParquetWriter(path, schema, compression="none", use_dictionary=["y"]) as writer:
    for start in range(0, rows, GROUP):
        count = min(GROUP, rows - start)
        x = random.standard_normal((COLUMNS, count), dtype=np.float32)
        classes = np.where(x[0] + x[1] > 0, "up", "down").astype(object)
        classes[np.arange(start, start + count) % EVERY != 0] = None
        columns = [pa.array(column) for column in x] + [pa.array(classes, pa.string())]
        writer.write_table(pa.table(columns, schema=schema), row_group_size=GROUP)
