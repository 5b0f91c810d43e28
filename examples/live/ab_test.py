"""Which of four pages sells the most? An A/B/n test that starts from a CSV and goes on day by day, by ask and tell.

An earlier test has shown three of the pages to 200 visitors each, and its log is a CSV. A fourth page is new. Each day
the study is opened, receives the sales of the day before, and says which pages the next 40 visitors see. Its journal
keeps everything: what one process hands out, another can tell. Here the visitors are simulated.
"""

import csv
import tempfile
from pathlib import Path

import numpy as np

import bai_gym

SALES = {"present page": 0.10, "large button": 0.14, "video": 0.08, "short text": 0.22}  # unknown to the agent
VISITORS = 40  # per day


def write_log(path: Path) -> None:
    """Write the log of the earlier test, without the new page."""
    rng = np.random.default_rng(0)
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["page", "sale"])
        for page in list(SALES)[:3]:
            writer.writerows((page, int(rng.random() < SALES[page])) for _ in range(200))


if __name__ == "__main__":
    rng = np.random.default_rng(1)
    days, ended = 0, False
    with tempfile.TemporaryDirectory() as folder:
        log, journal, report = Path(folder, "log.csv"), Path(folder, "journal.jsonl"), Path(folder, "report.html")
        write_log(log)
        while not ended:
            with bai_gym.live.Study(
                SALES,  # the names of the arms
                budget=400,
                agent="TTTS",  # by the posterior for rewards of 0 and 1
                earlier=log,
                arm_column="page",
                reward_column="sale",
                rewards="binary",
                journal=journal,
            ) as study:
                for pull in study.outstanding:  # yesterday's visitors
                    study.tell(pull, float(rng.random() < SALES[pull.name]))
                days += len(study.ask(VISITORS)) > 0  # today's visitors: pull.name is what each of them sees
                result, ended = study.result(), study.ended
        result.save(report)
        print(f"after {days} days:\n{result}")
        lead, low, high = result.lead
        second = result.names[result.runner_up]
        print(f"{result.name} sells more than {second} by {lead:.1%} (95 % interval {low:.1%} to {high:.1%})")
        print(f"the page with the evidence has {report.stat().st_size:,} bytes")
