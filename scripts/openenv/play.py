"""Plays episodes with OpenEnv's GenericEnvClient: JSON on standard input, JSON on standard output."""

import json
import sys

from openenv import GenericEnvClient


def turn(result):
    metadata = result.observation.get("metadata", {})
    return {
        "text": result.observation["text"],
        "reward": result.reward,
        "done": result.done,
        "code": metadata.get("code"),
    }


def play(url, episode):
    with GenericEnvClient(base_url=url).sync() as client:
        results = [client.reset(**episode["reset"])]
        for text in episode["actions"]:
            results.append(client.step({"text": text}))
        return [turn(result) for result in results]


asked = json.load(sys.stdin)
played = {
    name: [play(one["url"], episode) for episode in one["episodes"]]
    for name, one in asked.items()
}
json.dump(played, sys.stdout)
