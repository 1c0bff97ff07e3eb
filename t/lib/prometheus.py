# Reads a page of metrics from stdin with Prometheus's own parser and prints it
# as JSON: {"types": {family: type}, "samples": [[name, {label: value},
# value]]}. Fails if the page is invalid.

import json
import sys

from prometheus_client.parser import text_string_to_metric_families

text = sys.stdin.buffer.read().decode("utf-8")
assert text.endswith("\n"), "the last line has no end"

families = list(text_string_to_metric_families(text))
names = [family.name for family in families]
assert len(names) == len(set(names)), "a family is split"
assert all(family.documentation for family in families), "no HELP"

json.dump({
    "types": {family.name: family.type for family in families},
    "samples": [[s.name, s.labels, s.value]
                for family in families for s in family.samples],
}, sys.stdout)
