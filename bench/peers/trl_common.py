"""What the TRL scripts share: loading a checkpoint of ours, and settings that both sides use."""

import os
import resource
import sys
import tempfile

os.environ.setdefault("HF_HUB_OFFLINE", "1")
os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "")

import torch
from transformers import AutoModelForCausalLM, AutoTokenizer


def load_model(folder):
    return AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32)


def load_tokenizer(folder, padding_side="right"):
    # TRL appends the end token as text, so special tokens have to be read in texts.
    return AutoTokenizer.from_pretrained(
        folder, split_special_tokens=False, padding_side=padding_side
    )


def common_arguments(rows, steps, learning_rate):
    """Constant rate, AdamW with our defaults, no files, no progress bar."""
    return dict(
        output_dir=os.path.join(tempfile.gettempdir(), "lockedroom-peers"),
        per_device_train_batch_size=rows,
        max_steps=steps,
        learning_rate=learning_rate,
        adam_beta1=0.9,
        adam_beta2=0.95,
        adam_epsilon=1e-8,
        weight_decay=0.0,
        max_grad_norm=1.0,
        lr_scheduler_type="constant",
        warmup_steps=0,
        logging_steps=1,
        report_to=[],
        save_strategy="no",
        use_cpu=True,
        bf16=False,
        gradient_checkpointing=False,
        disable_tqdm=True,
        dataloader_num_workers=0,
    )


def peak_megabytes():
    """Peak resident memory of this process; the unit of ru_maxrss differs between systems."""
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / 1e6
