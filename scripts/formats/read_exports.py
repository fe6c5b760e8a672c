"""Reads recorded exports with the library of each format, and compares with our own trajectories.

Usage: python read_exports.py FOLDER, with trajectories.jsonl, failures.jsonl and FORMAT.jsonl in it.
Each library also writes what it read, as again-FORMAT.jsonl, for `import trajectories`. Prints one line for each library; the exit code is 1 when one of them read something else.
"""

import json
import os
import sys
import tempfile
from pathlib import Path

os.environ.setdefault("HF_HUB_OFFLINE", "1")
os.environ.setdefault("HF_DATASETS_DISABLE_PROGRESS_BARS", "1")
os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")
os.environ.setdefault("TRANSFORMERS_VERBOSITY", "error")
FOLDER = Path(sys.argv[1])


def lines(name):
    return [json.loads(line) for line in (FOLDER / name).read_text().splitlines()]


OURS = lines("trajectories.jsonl")
FAILURES = lines("failures.jsonl")
SCORED = [one for one in OURS if one["reward"] is not None]


def write_again(name, texts):
    (FOLDER / f"again-{name}.jsonl").write_text("".join(f"{text}\n" for text in texts))


def same(found, wanted, what):
    if found != wanted:
        raise AssertionError(f"{what}: {str(found)[:300]} is not {str(wanted)[:300]}")


def turns(trajectory):
    return [message for message in trajectory["messages"] if message["role"] == "assistant"]


def spoken(message):
    """What a chat message says: the text of a native call is in its tool_calls."""
    return "" if message.get("tool_calls") else message["content"]


def conversation(trajectory):
    return [(message["role"], spoken(message)) for message in trajectory["messages"]]


def said(messages):
    return [(message["role"], message["content"] or "") for message in messages]


def chat_calls(messages):
    return [
        (call["id"], call["function"]["name"], arguments_of(call["function"]["arguments"]))
        for message in messages
        for call in message.get("tool_calls") or []
    ]


def arguments_of(given):
    return json.loads(given) if isinstance(given, str) else given


def our_calls(trajectory):
    return [
        (call["id"], call["name"], call["arguments"])
        for message in turns(trajectory)
        for call in message.get("tool_calls") or []
    ]


def art():
    from art.trajectories import History, PydanticException, Trajectory, TrajectoryGroup
    from art.types import Choice
    from art.utils.trajectory_migration import (
        deserialize_trajectory_groups,
        dict_to_message_or_choice,
    )

    records = lines("art.jsonl")
    groups = deserialize_trajectory_groups((FOLDER / "art.jsonl").read_text())
    for group, record in zip(groups, records, strict=True):
        assert isinstance(group, TrajectoryGroup)
        same([one.reward for one in group], [t["reward"] for t in record["trajectories"]], "rewards")

    def items(history):
        return [dict_to_message_or_choice(item) for item in history["messages_and_choices"]]

    def whole(t):
        """Their file reader leaves out tools and additional histories; the models have them."""
        histories = [History(messages_and_choices=items(h)) for h in t["additional_histories"]]
        rest = {**t, "messages_and_choices": items(t), "additional_histories": histories}
        return Trajectory(**rest)

    found = [whole(t) for record in records for t in record["trajectories"]]
    for trajectory, wanted in zip(found, SCORED, strict=True):
        histories = [trajectory, *trajectory.additional_histories]
        messages = [message for history in histories for message in history.messages()]
        same(said(messages), conversation(wanted), "messages")
        same(chat_calls(messages), our_calls(wanted), "tool calls")
        same(trajectory.metrics, wanted["metrics"], "metrics")
        same(trajectory.logs, wanted["logs"], "logs")
        segments = wanted["segments"] or [None]
        same(len(histories), len(segments), "histories")
        choices = [
            item
            for history in histories
            for item in history.messages_and_choices
            if isinstance(item, Choice)
        ]
        for choice, turn in zip(choices, turns(wanted), strict=True):
            if turn["sampled"]["token_ids"] is None:
                assert choice.logprobs is None
                continue
            content = choice.logprobs.content
            same([int(t.token.split(":")[1]) for t in content], turn["sampled"]["token_ids"], "ids")
            same([t.logprob for t in content], turn["sampled"]["logprobs"], "log-probs")
    again = iter(found)
    groups_again = []
    for record in records:
        group = TrajectoryGroup([next(again) for _ in record["trajectories"]])
        group.exceptions = [PydanticException.model_validate(e) for e in record["exceptions"]]
        group.metadata = record["metadata"]
        groups_again.append(group.model_dump_json())
    write_again("art", groups_again)
    exceptions = [PydanticException.model_validate(e) for r in records for e in r["exceptions"]]
    same(len(exceptions), len(FAILURES) + len(OURS) - len(SCORED), "exceptions")
    return f"{len(groups)} groups, {len(found)} trajectories, {len(exceptions)} exceptions"


def verifiers():
    from verifiers.v1.episode import WireEpisode

    texts = (FOLDER / "verifiers.jsonl").read_text().splitlines()
    episodes = [WireEpisode.model_validate_json(text) for text in texts]
    played = [episode for episode in episodes if episode.ok]
    failed = [episode for episode in episodes if not episode.ok]
    same([e.errors[0].message for e in failed], [f["message"] for f in FAILURES], "errors")
    for episode, wanted in zip(played, OURS, strict=True):
        (trace,) = episode.traces
        same(episode.group.id, wanted["id"], "group")
        same(list(trace.rewards.values()) == [None], wanted["reward"] is None, "no reward")
        if wanted["reward"] is not None:
            same(trace.reward, wanted["reward"], "reward")
        same(trace.metrics, wanted["metrics"], "metrics")
        same(trace.num_turns, len(turns(wanted)), "turns")
        nodes = [(node.message.role, node.message.content or "") for node in trace.nodes]
        same(nodes, conversation(wanted), "messages")
        calls = [
            (call.id, call.name, json.loads(call.arguments))
            for message in trace.assistant_messages
            for call in message.tool_calls or []
        ]
        same(calls, our_calls(wanted), "tool calls")
        if wanted["segments"] is None:
            continue
        same([b.token_ids for b in trace.branches], [s["tokens"] for s in wanted["segments"]], "ids")
        for branch, segment in zip(trace.branches, wanted["segments"], strict=True):
            mask = [False] * len(segment["tokens"])
            for start, end in segment["actions"]:
                mask[start:end] = [True] * (end - start)
            same(branch.sampled_mask, mask, "mask")
        own = [p for b in trace.branches for p, m in zip(b.logprobs, b.sampled_mask) if m]
        same(own, [p for turn in turns(wanted) for p in turn["sampled"]["logprobs"]], "log-probs")
    write_again("verifiers", [json.dumps(e.to_record(float_decimals=None)) for e in episodes])
    return f"{len(played)} episodes, {len(failed)} failed"


def openenv():
    from openenv.core.harness.collect import EpisodeRecord, RolloutSerializer

    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "results.jsonl").write_text((FOLDER / "openenv.jsonl").read_text())
        ids = RolloutSerializer(folder).collected_episode_ids()
    same(ids, {f"{one['id']}#{one['sample']}" for one in OURS}, "episode ids")
    records = [EpisodeRecord(**record) for record in lines("openenv.jsonl")]
    for record, wanted in zip(records, OURS, strict=True):
        same(said(record.messages), conversation(wanted), "messages")
        same(chat_calls(record.messages), our_calls(wanted), "tool calls")
        same(len(record.tool_trace), len(our_calls(wanted)), "tool trace")
        same((record.reward, record.done), (wanted["reward"], wanted["terminated"]), "reward")
        same(record.to_dict()["metrics"], wanted["metrics"], "metrics")
    with tempfile.TemporaryDirectory() as folder:
        for record in records:
            RolloutSerializer(folder).write_episode(record)
        write_again("openenv", Path(folder, "results.jsonl").read_text().splitlines())
    return f"{len(records)} episodes"


def check_atif(model):
    found = [model.model_validate(record) for record in lines("atif.jsonl")]
    for document, wanted in zip(found, OURS, strict=True):
        agent = [step for step in document.steps if step.source == "agent"]
        same([step.message for step in agent], [spoken(turn) for turn in turns(wanted)], "turns")
        same(
            [step.metrics.completion_token_ids for step in agent],
            [turn["sampled"]["token_ids"] for turn in turns(wanted)],
            "token ids",
        )
        same(
            [step.metrics.logprobs for step in agent],
            [turn["sampled"]["logprobs"] for turn in turns(wanted)],
            "log-probs",
        )
        calls = [
            (call.tool_call_id, call.function_name, call.arguments)
            for step in agent
            for call in step.tool_calls or []
        ]
        same(calls, our_calls(wanted), "tool calls")
        replies = [
            result.content
            for step in document.steps
            for result in (step.observation.results if step.observation else [])
        ]
        wanted_replies = [m["content"] for m in wanted["messages"] if m["role"] == "tool"]
        same(replies, wanted_replies, "tool replies")
        same(document.final_metrics.extra["reward"], wanted["reward"], "reward")
    write_again("atif", [json.dumps(document.to_json_dict()) for document in found])
    return f"{len(found)} documents"


def harbor():
    from harbor.models.trajectories.trajectory import Trajectory

    return check_atif(Trajectory)


def atif():
    from atif import Trajectory

    return check_atif(Trajectory)


TEMPLATE = (
    "{% for m in messages %}<{{ m.role }}>{{ m.content or '' }}"
    "{% for c in m.tool_calls or [] %}[{{ c.function.name }} {{ c.function.arguments | tojson }}]{% endfor %}"
    "{% endfor %}{% if tools %}<tools {{ tools | length }}>{% endif %}"
)


def tokenizer():
    from tokenizers import Tokenizer
    from tokenizers.models import WordLevel
    from transformers import PreTrainedTokenizerFast

    words = Tokenizer(WordLevel({"[UNK]": 0}, unk_token="[UNK]"))
    made = PreTrainedTokenizerFast(tokenizer_object=words, unk_token="[UNK]")
    made.chat_template = TEMPLATE
    return made


def rendered(trajectory):
    text = ""
    for message in trajectory["messages"]:
        text += f"<{message['role']}>{spoken(message)}"
        for call in message.get("tool_calls") or []:
            text += f"[{call['name']} {json.dumps(call['arguments'])}]"
    return text


def trl():
    from datasets import load_dataset
    from trl.data_utils import apply_chat_template, is_conversational

    reader = tokenizer()
    counts = []
    for name, keys in [("trl", ["prompt", "completion"]), ("trl-messages", ["messages"])]:
        with tempfile.TemporaryDirectory() as cache:
            data = load_dataset(
                "json", data_files=str(FOLDER / f"{name}.jsonl"), split="train", cache_dir=cache
            )
            data.to_json(FOLDER / f"again-{name}.jsonl")
            rows = data.to_list()
        for row, wanted in zip(rows, OURS, strict=True):
            assert is_conversational({key: row[key] for key in keys})
            same(row["reward"], wanted["reward"], "reward")
            example = {key: row[key] for key in keys}
            text = "".join(apply_chat_template(example, reader).values())
            same(text, rendered(wanted), f"{name}: rendered conversation")
            assert len(json.loads(row["tools"])) > 0
        counts.append(f"{len(rows)} rows of {name}")
    return ", ".join(counts)


CHECKS = {
    "openpipe-art": art,
    "verifiers": verifiers,
    "openenv": openenv,
    "harbor": harbor,
    "atif": atif,
    "trl": trl,
}


def main():
    from importlib.metadata import version

    failed = 0
    for name, check in CHECKS.items():
        try:
            print(f"ok    {name} {version(name)}: {check()}", flush=True)
        except Exception as error:
            failed += 1
            print(f"FAIL  {name}: {type(error).__name__}: {error}", flush=True)
    print(f"{len(CHECKS) - failed} passed, {failed} failed")
    sys.exit(1 if failed else 0)


main()
