"""Makes of SAM templates what CloudFormation makes of them, with SAM's own code. No call leaves the machine.

Usage: sam.py FOLDER, the project's. A request is a line of standard input, a JSON object; its answer a line of standard output.
  {"stack": PARAMETERS}                      the resources of template.yaml and of the stacks that it opens, with values for all intrinsic
                                             functions; what AWS assigns is invented: a resource's Ref is its own name, a queue's a URL;
                                             and the parameters of these stacks
  {"file": NAME, "parameters": PARAMETERS}   a template of infra/, translated to plain CloudFormation
"""

import copy
import functools
import json
import logging
import pathlib
import re
import sys
from types import SimpleNamespace

from samcli.lib.cfn_language_extensions import PseudoParameterValues, process_template
from samcli.yamlhelper import yaml_parse
from samtranslator.plugins.globals.globals import Globals
from samtranslator.translator.transform import transform

logging.disable(logging.WARNING)  # the translator counts for AWS what it does
AWS = PseudoParameterValues(region="eu-west-1", account_id="111122223333", stack_name="shop", partition="aws", url_suffix="amazonaws.com")
STACK, QUEUES = "AWS::CloudFormation::Stack", "https://sqs.eu-west-1.amazonaws.com/111122223333/"


@functools.cache
def read(name):
    return yaml_parse((pathlib.Path(sys.argv[1]) / name).read_text(encoding="utf-8"))


def walk(value, each):
    """Replaces the innermost values first."""
    if isinstance(value, dict):
        value = {k: walk(v, each) for k, v in value.items()}
    elif isinstance(value, list):
        value = [walk(v, each) for v in value]
    return each(value)


class Deployment:
    """A template with its parameters."""

    def __init__(self, name, parameters):
        self.tree, self.parameters, self.opened = copy.deepcopy(read(name)), parameters, {}
        for resource in self.tree["Resources"].values():
            if isinstance(resource, dict) and resource["Type"].startswith("AWS::Serverless::"):
                resource["Properties"] = Globals(self.tree).merge(resource["Type"], resource["Properties"])
        self.tree.pop("Globals", None)
        wanted = self.tree.get("Parameters", {})
        if missing := [n for n in wanted if n not in parameters and "Default" not in wanted[n]] + [n for n in parameters if n not in wanted]:
            raise ValueError(f"{name}: not given, or given and not known: {missing}")

    def open(self, stack):
        if stack not in self.opened:
            properties = self.evaluate({stack: self.tree["Resources"][stack]})["Resources"][stack]["Properties"]
            self.opened[stack] = Deployment(properties["TemplateURL"], properties.get("Parameters", {}))
        return self.opened[stack]

    def output(self, name):
        return self.evaluate({}, {name: self.tree["Outputs"][name]})["Outputs"][name]["Value"]

    def assigned(self, name):
        """What AWS assigns to a resource, or to an attribute of it (ID.NAME)."""
        resource, _, attribute = name.partition(".")
        kind = self.tree["Resources"].get(resource, {}).get("Type")
        if kind == STACK and attribute.startswith("Outputs."):
            return self.open(resource).output(attribute.removeprefix("Outputs."))
        return QUEUES + name if kind == "AWS::SQS::Queue" and not attribute else name

    def refer(self, value):
        if isinstance(value, dict) and len(value) == 1:
            if "Fn::GetAtt" in value:
                of = value["Fn::GetAtt"]
                return self.assigned(of if isinstance(of, str) else ".".join(of))
            if str(value.get("Ref")).partition(".")[0] in self.tree["Resources"]:
                return self.assigned(value["Ref"])
        return value

    def evaluate(self, resources, outputs={}):
        part = {k: v for k, v in self.tree.items() if k in ("Parameters", "Mappings", "Conditions")}
        # Under a false condition SAM would drop references.
        bare = lambda r: {k: v for k, v in r.items() if k != "Condition"} if isinstance(r, dict) else r
        part["Resources"] = {k: walk(bare(r), self.refer) for k, r in resources.items()}
        part["Outputs"] = {k: {"Value": walk(o["Value"], self.refer)} for k, o in outputs.items()}
        done = process_template(part, parameter_values=self.parameters, pseudo_parameters=AWS)
        return walk(done, lambda v: re.sub(r"\$\{([A-Za-z0-9.]+)\}", lambda m: self.assigned(m[1]), v) if isinstance(v, str) else v)

    def resources(self):
        """Those that are made, by logical id; of a stack that a condition opens after the stack's: Push.Api."""
        conditions = {c: {"Value": {"Fn::If": [c, True, False]}} for c in self.tree.get("Conditions", {})}
        done, out = self.evaluate(self.tree["Resources"], conditions), {}
        for name, resource in done["Resources"].items():
            condition = self.tree["Resources"].get(name, {}).get("Condition")
            if condition and not done["Outputs"][condition]["Value"]:
                continue
            if resource["Type"] == STACK:
                parts = {(name + "." if condition else "") + k: v for k, v in self.open(name).resources().items()}
            else:
                parts = {name: resource | ({"Condition": condition} if condition else {})}
            if twice := parts.keys() & out.keys():
                raise ValueError(f"in two templates: {twice}")
            out |= parts
        return out


def translate(name, parameters):
    template = copy.deepcopy(read("infra/" + name))
    for resource in template["Resources"].values():
        if "CodeUri" in resource.get("Properties", {}):
            resource["Properties"]["CodeUri"] = "s3://bucket/" + resource["Properties"]["CodeUri"].strip("./")  # as packaged
    return transform(template, parameters, SimpleNamespace(load=dict))


for line in sys.stdin:
    request = json.loads(line)
    if "stack" in request:
        root = Deployment("template.yaml", request["stack"])
        answer = {"Resources": root.resources(), "Stacks": {name: stack.parameters for name, stack in root.opened.items()}}
    else:
        answer = translate(request["file"], request["parameters"])
    print(json.dumps(answer, ensure_ascii=False), flush=True)
