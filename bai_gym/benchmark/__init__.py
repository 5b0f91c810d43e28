"""Running agents on environments: protocol, runner, results."""
