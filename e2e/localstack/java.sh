#!/usr/bin/env bash
# The java that LocalStack starts DynamoDB Local with: this machine's, without the agent that LocalStack would download.
for argument; do
  shift
  case $argument in
  -javaagent:*) ;;
  *) set -- "$@" "$argument" ;;
  esac
done
exec java "$@"
