"""
Plays episodes with verifiers' openenv taskset: JSON on standard input, JSON on standard output. The
taskset, its environment and its client are verifiers' own; a list of answers stands for the model.
"""

import asyncio
import json
import sys
from contextlib import asynccontextmanager
from types import SimpleNamespace

from verifiers.v1.tasksets.openenv import OpenEnvConfig, OpenEnvEnv, OpenEnvTaskset


class Answers:
    """The seat of the model."""

    def __init__(self, texts):
        self.texts = list(texts)
        self.rewards = {}
        self.read = []

    @asynccontextmanager
    async def interaction(self, task):
        trace = SimpleNamespace(record_reward=self.rewards.__setitem__, stop=lambda reason: None)
        yield SimpleNamespace(trace=trace, turn=self.turn)

    async def turn(self, payload):
        self.read.append(json.loads(payload)["observation"]["text"])
        reply = self.texts.pop(0) if self.texts else ""
        return SimpleNamespace(terminated=False, last_reply=reply)


async def play(url, episodes):
    config = OpenEnvConfig(base_url=url, resets=[episode["reset"] for episode in episodes])
    played = []
    for task, episode in zip(OpenEnvTaskset(config).load(), episodes, strict=True):
        player = Answers(episode["actions"])
        await OpenEnvEnv.run(None, task, SimpleNamespace(player=player))
        played.append({"read": player.read, "reward": player.rewards["openenv_reward"]})
    return played


async def main():
    asked = json.load(sys.stdin)
    played = {name: await play(one["url"], one["episodes"]) for name, one in asked.items()}
    json.dump(played, sys.stdout)


asyncio.run(main())
