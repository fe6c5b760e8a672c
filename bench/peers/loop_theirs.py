"""GRPO, DPO or SFT by TRL's trainers: prints seconds of `trainer.train()` and peak memory as JSON.

Asked for as JSON in the first argument. Loading models and reading data are not counted.
"""

import contextlib
import json
import sys
import time

# First, because it sets what the libraries read when they are imported.
from trl_common import common_arguments, load_model, load_tokenizer, peak_megabytes

import torch
import trl
from datasets import Dataset

asked = json.loads(sys.argv[1])
START, STEPS = asked["start"], asked["steps"]


def read_rows():
    with open(asked["dataset"], encoding="utf8") as file:
        return [json.loads(line) for line in file]


def arguments(rows):
    return common_arguments(rows, STEPS, asked["learning_rate"])


def grpo():
    def reward(completions, expected, **_):
        right = zip(completions, expected)
        return [1.0 if text.strip() == f"Final: {answer}" else 0.0 for text, answer in right]

    rows = [
        {"prompt": row["prompt"], "expected": str(row["expected_answer"])} for row in read_rows()
    ]
    return trl.GRPOTrainer(
        model=load_model(START),
        reward_funcs=reward,
        args=trl.GRPOConfig(
            num_generations=asked["group"],
            max_completion_length=asked["max_tokens"],
            temperature=1.0,
            beta=0.0,
            loss_type="dapo",
            **arguments(asked["prompts"] * asked["group"]),
        ),
        train_dataset=Dataset.from_list(rows),
        processing_class=load_tokenizer(START, "left"),
    )


def dpo():
    rows = [{k: row[k] for k in ("prompt", "chosen", "rejected")} for row in read_rows()]
    return trl.DPOTrainer(
        model=load_model(START),
        ref_model=load_model(START),
        args=trl.DPOConfig(beta=0.1, max_length=80, **arguments(asked["batch"])),
        train_dataset=Dataset.from_list(rows),
        processing_class=load_tokenizer(START),
    )


def sft():
    rows = [{k: row[k] for k in ("prompt", "completion")} for row in read_rows()]
    return trl.SFTTrainer(
        model=load_model(START),
        args=trl.SFTConfig(completion_only_loss=True, max_length=80, **arguments(asked["batch"])),
        train_dataset=Dataset.from_list(rows),
        processing_class=load_tokenizer(START),
    )


def mean_of(trainer, name):
    found = [entry[name] for entry in trainer.state.log_history if name in entry]
    return sum(found) / len(found) if found else None


torch.set_num_threads(asked["threads"])
# Trainers print their logs; stdout is for the result alone.
with contextlib.redirect_stdout(sys.stderr):
    trainer = {"grpo": grpo, "dpo": dpo, "sft": sft}[asked["method"]]()
    start = time.perf_counter()
    trainer.train()
    seconds = time.perf_counter() - start
result = {
    "seconds": seconds,
    "megabytes": peak_megabytes(),
    "completion_tokens": mean_of(trainer, "completions/mean_length"),
}
print(json.dumps(result))
