"""Starts LocalStack 4.14.0 without its container, with three things that its settings do not offer."""

from functools import partial
from types import SimpleNamespace

from twisted.internet import endpoints

from localstack.runtime import main
from localstack.runtime.server import twisted as server
from localstack.services.lambda_.invocation import docker_runtime_executor
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

main.main()
