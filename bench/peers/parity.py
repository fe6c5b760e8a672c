"""TRL's losses and gradient norms on one fixed batch per method, as JSON on stdout.

Reads from stdin what parity.mjs prepares: the start's folder, settings, rows as text and as tokens.
"""

import contextlib
import json
import sys
from importlib.metadata import version

# First, because it sets what the libraries read when they are imported.
from trl_common import common_arguments, load_model, load_tokenizer

import torch
import trl
from datasets import Dataset

asked = json.load(sys.stdin)
START, SETTINGS = asked["start"], asked["settings"]
STEPS, BETA, ROWS = SETTINGS["steps"], SETTINGS["beta"], len(asked["data"]["texts"])
MAX_LENGTH = asked["max_length"]
tokenizer = load_tokenizer(START)


def arguments():
    return common_arguments(ROWS, STEPS, SETTINGS["learning_rate"]) | {
        "train_sampling_strategy": "sequential"
    }


def recording(trainer_class):
    """The trainer, keeping the loss of every step in full precision."""

    class Recording(trainer_class):
        losses = None

        def training_step(self, *args, **kwargs):
            loss = super().training_step(*args, **kwargs)
            self.losses = (self.losses or []) + [loss.item()]
            return loss

    return Recording


def results(trainer):
    trainer.train()
    norms = [entry["grad_norm"] for entry in trainer.state.log_history if "grad_norm" in entry]
    assert len(norms) == len(trainer.losses) == STEPS
    return {"losses": trainer.losses, "gradient_norms": norms}


def same_tokens(found, expected):
    """Both sides have to train on the same tokens."""
    found, expected = [list(row) for row in found], [list(row) for row in expected]
    assert found == expected, f"TRL reads {found[0]}, we read {expected[0]}"


def sft():
    rows = [{"prompt": r["prompt"], "completion": r["completion"]} for r in asked["data"]["texts"]]
    trainer = recording(trl.SFTTrainer)(
        model=load_model(START),
        args=trl.SFTConfig(completion_only_loss=True, max_length=MAX_LENGTH, **arguments()),
        train_dataset=Dataset.from_list(rows),
        processing_class=tokenizer,
    )
    same_tokens(trainer.train_dataset["input_ids"], asked["tokens"]["texts"])
    return results(trainer)


def preference(loss_type):
    rows = [{k: r[k] for k in ("prompt", "chosen", "rejected")} for r in asked["data"]["pairs"]]
    trainer = recording(trl.DPOTrainer)(
        model=load_model(START),
        ref_model=load_model(START),
        args=trl.DPOConfig(
            beta=BETA, loss_type=[loss_type], max_length=MAX_LENGTH, **arguments()
        ),
        train_dataset=Dataset.from_list(rows),
        processing_class=tokenizer,
    )
    read = trainer.train_dataset
    pairs = zip(read["prompt_ids"], read["chosen_ids"], read["rejected_ids"])
    same_tokens(
        [p + side for p, chosen, rejected in pairs for side in (chosen, rejected)],
        asked["tokens"]["pairs"],
    )
    return results(trainer)


def kto():
    # One epoch of all batches: the order within each decides which completions are compared.
    labels = asked["data"]["labels"]
    order = [i for batch in asked["label_batches"] for i in batch]
    rows = [{k: labels[i][k] for k in ("prompt", "completion", "label")} for i in order]
    trainer = recording(trl.KTOTrainer)(
        model=load_model(START),
        ref_model=load_model(START),
        args=trl.KTOConfig(beta=BETA, max_length=MAX_LENGTH, **arguments()),
        train_dataset=Dataset.from_list(rows),
        processing_class=tokenizer,
    )
    read = trainer.train_dataset
    found = [p + c for p, c in zip(read["prompt_ids"], read["completion_ids"])]
    same_tokens(found, [asked["tokens"]["labels"][i] for i in order])
    return results(trainer)


def padded(lists, side, value=0, dtype=torch.long):
    longest = max(len(one) for one in lists)
    rows = []
    for one in lists:
        fill = [value] * (longest - len(one))
        rows.append(fill + list(one) if side == "left" else list(one) + fill)
    return torch.tensor(rows, dtype=dtype)


def rollout_batch():
    """The batch that GRPO would have sampled, with old and reference log-probs beside the start's.

    Shifted by fixed amounts, so that ratios leave the clip range on both sides and the KL is not 0.
    """
    tokens, prompts = asked["tokens"]["rollouts"], asked["prompt_lengths"]
    prompt = [row[:n] for row, n in zip(tokens, prompts)]
    completion = [row[n:] for row, n in zip(tokens, prompts)]
    start = load_model(START).eval()
    old, reference = [], []
    for r, (p, c) in enumerate(zip(prompt, completion)):
        with torch.no_grad():
            logits = start(input_ids=torch.tensor([p + c])).logits[0, len(p) - 1 : -1]
        logprobs = logits.log_softmax(-1).gather(1, torch.tensor(c)[:, None])[:, 0]
        at = torch.arange(len(c))
        old.append((logprobs + ((3 * r + 7 * at) % 11 - 5) * 0.06).tolist())
        reference.append((logprobs + ((5 * r + 4 * at) % 13 - 6) * 0.08).tolist())
    batch = {
        "prompt_ids": padded(prompt, "left"),
        "prompt_mask": padded([[1] * len(p) for p in prompt], "left"),
        "completion_ids": padded(completion, "right"),
        "completion_mask": padded([[1] * len(c) for c in completion], "right"),
        "advantages": torch.tensor([r["advantage"] for r in asked["data"]["rollouts"]]),
        "old_per_token_logps": padded(old, "right", 0.0, torch.float32),
        "ref_per_token_logps": padded(reference, "right", 0.0, torch.float32),
        "num_items_in_batch": torch.tensor(sum(len(c) for c in completion)),
    }
    return batch, {"old": old, "reference": reference}


def grpo(batch, *, loss_type, beta, level):
    class OnGivenBatch(trl.GRPOTrainer):
        """Everything but sampling and scoring is the trainer's own."""

        def _prepare_inputs(self, _):
            return dict(batch)

    prompts = [{"prompt": row["prompt"]} for row in asked["data"]["rollouts"]]
    trainer = recording(OnGivenBatch)(
        model=load_model(START),
        reward_funcs=lambda prompts, **_: [0.0] * len(prompts),
        args=trl.GRPOConfig(
            loss_type=loss_type,
            beta=beta,
            epsilon=SETTINGS["clip"],
            importance_sampling_level=level,
            # On by default in TRL, and not in our loss: the KL term times the probability ratio.
            use_bias_correction_kl=False,
            num_generations=4,
            max_completion_length=SETTINGS["max_tokens"],
            **{k: v for k, v in arguments().items() if k != "train_sampling_strategy"},
        ),
        train_dataset=Dataset.from_list(prompts),
        processing_class=load_tokenizer(START, "left"),
    )
    return results(trainer)


def everything():
    batch, logprobs = rollout_batch()
    cases = [
        {"method": "sft", **sft()},
        {"method": "dpo", **preference("sigmoid")},
        {"method": "ipo", **preference("ipo")},
        {"method": "kto", **kto()},
    ]
    for loss_type in ("dapo", "grpo", "dr_grpo", "bnpo"):
        for beta in (0.0, BETA):
            own = {"loss_type": loss_type, "beta": beta, "level": "token"}
            cases.append({"method": "grpo", **own, **grpo(batch, **own)})
    own = {"loss_type": "grpo", "beta": 0.0, "level": "sequence"}
    cases.append({"method": "grpo", **own, **grpo(batch, **own)})
    names = ("torch", "transformers", "trl")
    return {
        "versions": {name: version(name) for name in names},
        "rollout_logprobs": logprobs,
        "cases": cases,
    }


torch.set_num_threads(1)
# Trainers print their logs; stdout is for the result alone.
with contextlib.redirect_stdout(sys.stderr):
    found = everything()
json.dump(found, sys.stdout)
