"""Runs several commands of the Azure CLI in one process, as its own tests do: loading its network commands takes 5 s of CPU.

Reads one command a line from stdin, as a JSON list. Prints its exit code, output and error as one line of JSON.
"""

import io
import json
import sys

from azure.cli.core import get_default_cli

# The log of az keeps the stream that it finds at first.
sys.stderr = io.StringIO()

for line in sys.stdin:
    out = io.StringIO()
    sys.stderr.seek(0)
    sys.stderr.truncate()
    try:
        code = get_default_cli().invoke(json.loads(line), out_file=out)
    except SystemExit as end:
        code = end.code
    said = {"code": code, "out": out.getvalue(), "err": sys.stderr.getvalue()}
    print(json.dumps(said), flush=True)
