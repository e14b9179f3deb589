"""The rights that CloudFormation's handlers of resource types ask for, to create, read, update and delete.

In, as arguments: resource types. Out, on standard output: JSON, rights by type. From the schemas of cfn-lint, which have
them as AWS publishes them. Exit code 1 for a type without handlers.
"""

import json
import pathlib
import sys

import cfnlint

wanted, found = set(sys.argv[1:]), {}
for file in (pathlib.Path(cfnlint.__file__).parent / "data" / "schemas" / "resources").glob("*.json"):
    schema = json.loads(file.read_text())
    if schema.get("typeName") in wanted and schema.get("handlers"):
        found[schema["typeName"]] = sorted(
            {p for op in ("create", "read", "update", "delete") for p in schema["handlers"].get(op, {}).get("permissions", [])}
        )
if wanted - found.keys():
    sys.exit(f"no handlers: {sorted(wanted - found.keys())}")
json.dump(found, sys.stdout)
