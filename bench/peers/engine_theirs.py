"""A training step or a batch of samples by PyTorch: prints the milliseconds of each call as JSON.

The same model as engine-ours.mjs, as a Hugging Face Llama; asked for as JSON in the first argument.
"""

import json
import sys
import time

# First, because it sets what the libraries read when they are imported.
import trl_common  # noqa: F401

import torch
from transformers import LlamaConfig, LlamaForCausalLM

asked = json.loads(sys.argv[1])
torch.set_num_threads(asked["threads"])
torch.manual_seed(0)


def llama(a):
    return LlamaForCausalLM(
        LlamaConfig(
            vocab_size=a["vocabulary"],
            hidden_size=a["width"],
            intermediate_size=a["inner"],
            num_hidden_layers=a["layers"],
            num_attention_heads=a["heads"],
            num_key_value_heads=a["keyHeads"],
            head_dim=a["headSize"],
            rms_norm_eps=a["epsilon"],
            tie_word_embeddings=a["tied"],
            max_position_embeddings=256,
            pad_token_id=0,
            bos_token_id=1,
            eos_token_id=None,
        )
    ).float()


def tokens(rows, length):
    return ((torch.arange(rows * length) * 7) % 61).view(rows, length)


def training_step(model):
    forward = torch.compile(model) if asked["what"] == "compile" else model
    optimiser = torch.optim.AdamW(
        model.parameters(), lr=1e-3, betas=(0.9, 0.95), eps=1e-8, weight_decay=0, foreach=True
    )
    texts = tokens(asked["batch"], asked["length"])

    def step():
        forward(input_ids=texts, labels=texts).loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimiser.step()
        optimiser.zero_grad(set_to_none=True)

    return step


def samples(model):
    model.eval()
    prompts = tokens(asked["batch"], asked["prompt"])
    fresh = asked["fresh"]

    @torch.no_grad()
    def sample():
        found = model.generate(
            prompts,
            attention_mask=torch.ones_like(prompts),
            do_sample=True,
            temperature=1.0,
            top_k=0,
            max_new_tokens=fresh,
            min_new_tokens=fresh,
            use_cache=True,
        )
        assert found.shape == (asked["batch"], asked["prompt"] + fresh)

    return sample


model = llama(asked["architecture"])
call = samples(model) if asked["what"] == "generate" else training_step(model)
# Compiled code, allocators and the optimiser's state are ready after the third call.
for _ in range(3):
    call()
milliseconds = []
for _ in range(asked["calls"]):
    start = time.perf_counter()
    call()
    milliseconds.append(1000 * (time.perf_counter() - start))
print(json.dumps({"ms": milliseconds}))
