import { expect, test } from "vitest";
import { changesIn } from "./changes.ts";

test.each([
  ["lower the learning rate from 2.0 to 0.5", 1],
  ["Evaluate the shipped data set again.", 1],
  ["lower the learning rate and nothing else", 1],
  ["lower the learning rate\n  from 2.0 to 0.5", 1],
  ["- lower the learning rate", 1],
  ["use a smaller step, e.g. 0.1", 1],
  ["Use the file with questions and answers unchanged.", 1],
  ["Evaluate on the original file (not the copy); nothing else.", 1],
  ["Lower the learning rate. It was too large.", 1],
  ["restore the data set and evaluate it again", 1],
  ["sample four and select", 1],
  ["On level 2, lower the learning rate", 1],
  ["a learning rate of -0.5, not 0.5", 1],
  ["one expected answer in a copy of the data set", 1],
  ["lower the learning rate and add a baseline", 2],
  ["Lower the learning rate. Add a baseline.", 2],
  ["lower the learning rate; add a baseline", 2],
  ["lower the learning rate, also add a baseline", 2],
  ["- lower the learning rate\n- add a baseline", 2],
  ["Raise the temperature, use a lower top-p.", 2],
  ["1) raise temperature 2) train longer", 2],
  ["Evaluate again, then train longer.", 2],
  ["change the scorer and the prompt and train longer", 3],
  ["the learning rate and the seed", 2],
  ["none", 0],
  ["None: it works", 0],
  ["", 0],
])("%j names %i changes", (text, count) => {
  expect(changesIn(text)).toHaveLength(count);
});
