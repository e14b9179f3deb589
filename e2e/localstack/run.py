"""Starts LocalStack 4.14.0 without its container, with nine things that its settings do not offer."""

import math
import sqlite3
from functools import partial
from types import SimpleNamespace

from twisted.internet import endpoints

from localstack.runtime import main
from localstack.runtime.server import twisted as server
from localstack.services.apigateway.resource_providers.aws_apigateway_restapi import ApiGatewayRestApiProvider
from localstack.services.apigateway.resource_providers.aws_apigateway_stage import ApiGatewayStageProvider
from localstack.services.cloudformation.engine import transformers
from localstack.services.cloudformation.engine.v2.change_set_model import ChangeSetModel
from localstack.services.cloudformation.engine.v2.change_set_model_transform import ChangeSetModelTransform
from localstack.services.cloudformation.resource_provider import OperationStatus, ProgressEvent
from localstack.services.cloudformation.resource_providers.aws_cloudformation_stack import CloudFormationStackProvider
from localstack.services.cloudwatch.cloudwatch_database_helper import CloudwatchDatabase
from localstack.services.lambda_.invocation import docker_runtime_executor
from localstack.services.lambda_.resource_providers.lambda_alias import LambdaAliasProvider
from localstack.utils.catalog.catalog_loader import RemoteCatalogLoader
from localstack.utils.catalog.common import AwsRemoteCatalog

# 1. Listen on the addresses of GATEWAY_LISTEN: as shipped, every IPv4 address there means 0.0.0.0.
register = server.TwistedRuntimeServer.register


def register_on_hosts(self, gateway, listen, ssl_creds=None):
    for address in listen:
        tcp4 = partial(endpoints.TCP4ServerEndpoint, interface=address.host)
        server.endpoints = SimpleNamespace(TCP4ServerEndpoint=tcp4, TCP6ServerEndpoint=endpoints.TCP6ServerEndpoint)
        register(self, gateway, [address], ssl_creds)


server.TwistedRuntimeServer.register = register_on_hosts

# 2. Do not ask api.localstack.cloud which resource types exist. With CFN_IGNORE_UNSUPPORTED_RESOURCE_TYPES=0
# and no answer from there, CloudFormation refuses every type; with this it allows those that this LocalStack has.
CATALOG = {"schema_version": "v1", "localstack": {"version": "none"}, "services": {}, "cloudformation_resources": {"community": {}}}
RemoteCatalogLoader.get_remote_catalog = lambda self: AwsRemoteCatalog.model_validate(CATALOG)

# 3. Do not pull the Lambda base image: image.sh has made it, and no registry has it.
docker_runtime_executor._ensure_runtime_image_present = lambda image, platform: None


# 4. Update a nested stack, an alias, a stage: as shipped, they are said to be updated, and stay as they were.
def update_stack(self, request):
    model, context, cloudformation = request.desired_state, request.custom_context, request.aws_client_factory.cloudformation
    model["Id"] = request.previous_state["Id"]
    status = OperationStatus.IN_PROGRESS
    if "begun" not in context:
        context["begun"] = True
        given = [{"ParameterKey": k, "ParameterValue": str(v)} for k, v in model.get("Parameters", {}).items()]
        capabilities = ["CAPABILITY_IAM", "CAPABILITY_NAMED_IAM", "CAPABILITY_AUTO_EXPAND"]
        cloudformation.update_stack(StackName=model["Id"], TemplateURL=model["TemplateURL"], Parameters=given, Capabilities=capabilities)
    else:
        stack = cloudformation.describe_stacks(StackName=model["Id"])["Stacks"][0]
        if not stack["StackStatus"].endswith("_IN_PROGRESS"):
            status = OperationStatus.SUCCESS if stack["StackStatus"] == "UPDATE_COMPLETE" else OperationStatus.FAILED
            model["Outputs"] = {o["OutputKey"]: o["OutputValue"] for o in stack.get("Outputs", [])}
    return ProgressEvent(status=status, resource_model=model, custom_context=context, message=f"nested stack {model['Id']}")


def update_alias(self, request):
    model = request.desired_state
    model["Id"] = request.previous_state["Id"]
    request.aws_client_factory.lambda_.update_alias(
        FunctionName=model["FunctionName"], Name=model["Name"], FunctionVersion=model["FunctionVersion"]
    )
    return ProgressEvent(status=OperationStatus.SUCCESS, resource_model=model)


def update_stage(self, request):
    model = request.desired_state
    patch = [{"op": "replace", "path": "/deploymentId", "value": model["DeploymentId"]}]
    request.aws_client_factory.apigateway.update_stage(restApiId=model["RestApiId"], stageName=model["StageName"], patchOperations=patch)
    return ProgressEvent(status=OperationStatus.SUCCESS, resource_model=model)


ApiGatewayStageProvider.update = update_stage
CloudFormationStackProvider.update = update_stack
LambdaAliasProvider.update = update_alias

# 5. Replace nothing: as shipped, whatever refers by a name to a resource that is updated is made again beside itself, which an alias and a stage cannot be.
ChangeSetModel._resolve_requires_replacement = lambda self, **_: False


# 6. Keep what a loop's body says: as shipped, each Fn::Sub and Fn::Join in it becomes a text at once, without the stack's parameters.
def bound(value, variable, text):
    if isinstance(value, list):
        return [bound(v, variable, text) for v in value]
    if not isinstance(value, dict):
        return value
    if value == {"Ref": variable}:
        return text
    if isinstance(value.get("Fn::Sub"), str):
        return {"Fn::Sub": value["Fn::Sub"].replace("${" + variable + "}", text)}
    return {k: bound(v, variable, text) for k, v in value.items()}


def expand(loop, context, extra=None):
    variable, texts, bodies = loop
    return {name.replace("${" + variable + "}", t): bound(body, variable, t) for t in texts for name, body in bodies.items()}


transformers.expand_fn_foreach = expand

# 7. Do not look at resources before SAM's transform: as shipped, a conditional resource that refers to FUNCTION.Alias, which SAM makes, is refused. Only
# Fn::Transform wants that look, which no template of ours has.
ChangeSetModelTransform._execute_local_transforms = lambda self: None


# 8. Read a metric in one pass: as shipped, each minute of each metric is a query of its own, which for a live screen takes seconds, and a percentile is
# answered with 500. A percentile is of single values by nearest rank; of values put as a set it knows the maximum.
def points(self, account_id, region, query, start_time, end_time, scan_by):
    stat = query["MetricStat"]
    metric, period, unit = stat["Metric"], stat["Period"], stat.get("Unit")
    start, end = self._convert_timestamp_to_unix(start_time), self._convert_timestamp_to_unix(end_time)
    of = "dimensions IS NULL" if not metric.get("Dimensions") else "dimensions LIKE ?"
    where = f"WHERE metric_name = ? AND namespace = ? AND account_id = ? AND region = ? AND timestamp >= ? AND timestamp < ? AND {of}"
    given = [metric["MetricName"], metric["Namespace"], account_id, region, start, end]
    if metric.get("Dimensions"):
        given.append(self._get_ordered_dimensions_with_separator(metric["Dimensions"], for_search=True))
    if unit:
        where += " AND unit IS NULL" if unit == "NULL_VALUE" else " AND unit = ?"
        given += [] if unit == "NULL_VALUE" else [unit]
    with self.DATABASE_LOCK, sqlite3.connect(self.METRICS_DB_READ_ONLY, uri=True) as connection:
        rows = connection.execute(
            f"""SELECT timestamp, value, value, value, 1 FROM SINGLE_METRICS {where}
                UNION ALL SELECT timestamp, sum, min, max, sample_count FROM AGGREGATED_METRICS {where}""",
            given * 2,
        ).fetchall()
    periods = {}
    for row in rows:
        periods.setdefault(start + (int(row[0]) - start) // period * period, []).append(row[1:])
    times = sorted(periods, reverse=scan_by in (None, "TimestampDescending"))
    return {"timestamps": times, "values": [statistic(stat["Stat"], *zip(*periods[t])) for t in times]}


def statistic(name, sums, least, most, counts):
    if name.startswith("p"):
        return sorted(most)[max(math.ceil(len(most) * float(name[1:]) / 100) - 1, 0)]
    average = sum(sums) / sum(counts)
    return {"Sum": sum(sums), "Average": average, "Minimum": min(least), "Maximum": max(most), "SampleCount": sum(counts)}[name]


CloudwatchDatabase.get_metric_data_stat = points

# 9. Give an API an id that follows from the stack's name, so that functions can be told its address before there is one: seckilla for seckill-a, and for
# the stacks in it.
create_api = ApiGatewayRestApiProvider.create


def create_with_id(self, request):
    tags = request.desired_state.get("Tags", [])
    request.desired_state["Tags"] = [*tags, {"Key": "_custom_id_", "Value": "".join(request.stack_name.split("-")[:2])}]
    event = create_api(self, request)
    request.desired_state["Tags"] = tags
    return event


ApiGatewayRestApiProvider.create = create_with_id

main.main()
