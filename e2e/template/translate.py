"""Processes a SAM template as CloudFormation does, with SAM's own translator.

Usage: translate.py FILE; parameters as a JSON object on standard input, the processed template as JSON on standard output. No call leaves the machine.
"""

import json
import logging
import pathlib
import sys
from types import SimpleNamespace

from samcli.yamlhelper import yaml_parse
from samtranslator.translator.transform import transform

logging.disable(logging.WARNING)  # the translator counts for AWS what it does
template = yaml_parse(pathlib.Path(sys.argv[1]).read_text(encoding="utf-8"))
for resource in template["Resources"].values():
    if "CodeUri" in resource.get("Properties", {}):
        resource["Properties"]["CodeUri"] = "s3://bucket/" + resource["Properties"]["CodeUri"].strip("./")  # as packaged
json.dump(transform(template, json.load(sys.stdin), SimpleNamespace(load=dict)), sys.stdout)
