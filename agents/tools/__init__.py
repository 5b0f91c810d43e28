"""What several agents share: choice with stated tie rules, stages, regressions, confidence widths."""
