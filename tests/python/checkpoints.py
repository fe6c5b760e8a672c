"""Loads checkpoints with Hugging Face's libraries and prints what they make of some texts, as JSON.

Reads {"folders": [...], "texts": [...]} from stdin. Needs tokenizers and transformers; logits only
with torch. tests/transformers.test.ts runs this file and compares.
"""

import json
import sys

from tokenizers import Tokenizer
from transformers import AutoTokenizer

try:
    import torch
    from transformers import AutoModelForCausalLM
except ImportError:
    torch = None


def attempt(work):
    try:
        return work()
    except Exception as error:
        return {"error": str(error)}


def logits(model, ids):
    with torch.no_grad():
        return model(torch.tensor([ids])).logits[0, -1].tolist()


def describe(folder, texts):
    auto = AutoTokenizer.from_pretrained(folder)
    plain = Tokenizer.from_file(f"{folder}/tokenizer.json")
    model = torch and AutoModelForCausalLM.from_pretrained(folder).eval()
    rows = []
    for text in texts:
        ids = attempt(lambda: auto(text).input_ids)
        row = {"auto": ids, "plain": attempt(lambda: plain.encode(text).ids)}
        if isinstance(ids, list):
            row["decoded"] = auto.decode(ids, skip_special_tokens=True)
            row["plain_decoded"] = plain.decode(ids)
            row["logits"] = logits(model, ids) if model else None
        rows.append(row)
    special = [auto.pad_token_id, auto.bos_token_id, auto.eos_token_id]
    return {"special": special, "size": len(auto), "rows": rows}


asked = json.load(sys.stdin)
print(json.dumps([describe(folder, asked["texts"]) for folder in asked["folders"]]))
