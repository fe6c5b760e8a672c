"""Small environments on OpenEnv's own Python server, for `npm run test:openenv`."""

import asyncio
import random
import sys
from typing import Any

import uvicorn
from fastmcp import FastMCP
from openenv.core.env_server import (
    Action,
    CallToolAction,
    CallToolObservation,
    Environment,
    MCPEnvironment,
    Observation,
    State,
    create_fastapi_app,
)


class GuessAction(Action):
    guess: int


class GuessObservation(Observation):
    hint: str


class Guess(Environment):
    """A number from 0 to 99; each guess is told whether it is too low or too high."""

    SUPPORTS_CONCURRENT_SESSIONS = True

    def __init__(self) -> None:
        super().__init__()
        self.number = 0
        self._state = State()

    def random(self, seed: int | None) -> random.Random:
        return random.Random(seed)

    def reset(self, seed=None, episode_id=None, **more: Any) -> GuessObservation:
        self.number = self.random(seed).randrange(100)
        self._state = State(episode_id=episode_id, step_count=0)
        parity = "even" if self.number % 2 == 0 else "odd"
        return GuessObservation(hint=f"{parity}, tens {self.number // 10}", done=False)

    def step(self, action: GuessAction, timeout_s=None, **more: Any) -> GuessObservation:
        self._state.step_count += 1
        if action.guess == self.number:
            return GuessObservation(hint="right", done=True, reward=1.0)
        if self._state.step_count == 10:
            return GuessObservation(
                hint="over", done=True, reward=0.0, metadata={"truncated": True}
            )
        hint = "too low" if action.guess < self.number else "too high"
        return GuessObservation(hint=hint, done=False)

    @property
    def state(self) -> State:
        return self._state

    def list_splits(self):
        return ["train", "validation", "test"]

    def num_tasks(self, split: str) -> int:
        return {"train": 5, "validation": 2, "test": 3}[split]

    def get_task(self, split: str, index: int):
        return {"id": f"{split}/{index}", "index": index}

    def get_task_range(self, split: str, start=None, stop=None):
        indices = range(self.num_tasks(split))[start:stop]
        return [self.get_task(split, index) for index in indices]

    def list_tasks(self, split: str):
        return self.get_task_range(split)


class Careless(Guess):
    """The same, but the seed is dropped."""

    def random(self, seed: int | None) -> random.Random:
        return random.Random()


class Door(MCPEnvironment):
    """Two tools; the door opens with the word that the note has."""

    SUPPORTS_CONCURRENT_SESSIONS = True

    def __init__(self) -> None:
        tools = FastMCP("door")
        self.opened = False
        self._state = State()

        @tools.tool
        def read_note() -> str:
            """Reads the note on the table."""
            return "the word is sesame"

        @tools.tool
        def open_door(word: str) -> str:
            """Opens the door if the word is right."""
            self.opened = word == "sesame"
            return "open" if self.opened else "still shut"

        super().__init__(tools)

    def reset(self, seed=None, episode_id=None, **more: Any) -> Observation:
        self.opened = False
        self._state = State(episode_id=episode_id, step_count=0)
        return Observation(done=False)

    def _step_impl(self, action: Action, timeout_s=None, **more: Any) -> Observation:
        raise ValueError("only calls of tools are taken")

    def step(self, action: Action, timeout_s=None, **more: Any) -> Observation:
        return self.judged(super().step(action, timeout_s=timeout_s, **more))

    async def step_async(self, action: Action, timeout_s=None, **more: Any) -> Observation:
        return self.judged(await super().step_async(action, timeout_s=timeout_s, **more))

    def judged(self, observation: Observation) -> Observation:
        if self.opened:
            observation.done = True
            observation.reward = 1.0
        return observation

    @property
    def state(self) -> State:
        return self._state


KINDS = {
    "guess": (Guess, GuessAction, GuessObservation),
    "careless": (Careless, GuessAction, GuessObservation),
    "door": (Door, CallToolAction, CallToolObservation),
}



async def serve(kind: str, port: int) -> None:
    environment, action, observation = KINDS[kind]
    app = create_fastapi_app(
        environment, action, observation, env_name=kind, max_concurrent_envs=2
    )
    config = uvicorn.Config(app, host="127.0.0.1", port=port, log_level="warning")
    await uvicorn.Server(config).serve()


async def main() -> None:
    """Each argument is KIND:PORT; one process serves all, because it takes long to start."""
    wanted = (argument.split(":") for argument in sys.argv[1:])
    await asyncio.gather(*(serve(kind, int(port)) for kind, port in wanted))


if __name__ == "__main__":
    asyncio.run(main())
