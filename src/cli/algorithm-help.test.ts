import { Command } from "commander";
import { describe, expect, test } from "vitest";
import { columns } from "../core/visible.ts";
import { ALGORITHMS, algorithmOf } from "../learn/algorithms/index.ts";
import { unusedSettings } from "../learn/settings/unused.ts";
import { completed } from "../learn/settings.ts";
import { algorithmHelp, describeAlgorithm } from "./algorithm-help.ts";
import { addTrainOptions } from "./train-options.ts";

const NAMES = ALGORITHMS.map(({ name }) => name);

describe.each(NAMES)("the help of %s", (name) => {
  const algorithm = algorithmOf(name);
  const text = algorithmHelp(algorithm);

  test("fits into 80 columns, and ends with a command of its own", () => {
    expect(text.split("\n").filter((line) => columns(line) > 80)).toEqual([]);
    expect(text).toMatch(new RegExp(`^ {2}lockedroom train ${name} [\\s\\S]*--dataset`, "m"));
    expect(text).toMatch(new RegExp(`--outdir runs/${name}$`));
  });

  test("has its settings with the defaults that training uses, and none that it does not read", () => {
    const settings = completed(algorithm, {});
    expect(text).toMatch(new RegExp(`^ {2}steps +${algorithm.defaults.steps} `, "m"));
    expect(text).toMatch(new RegExp(`^ {2}rate\\.peak +${settings.rate.peak} `, "m"));
    for (const own of Object.keys(settings.algorithm as object)) {
      expect(text).toMatch(new RegExp(`^ {2}algorithm\\.${own} `, "m"));
    }
    for (const unused of unusedSettings(algorithm)) {
      expect(text).not.toMatch(new RegExp(`^ {2}${unused.replaceAll(".", "\\.")}[ .]`, "m"));
    }
  });

  test("shows a row of its data", () => {
    const row = JSON.parse(/^ {2}(\{.*\})$/m.exec(text)?.[1] ?? "null");
    const fields = {
      ...{ texts: "completion", "passing samples": "expected_answer", pairs: "rejected" },
      ...{ labels: "label", rollouts: "expected_answer" },
    };
    expect(Object.keys(row)).toContain(fields[algorithm.needs]);
  });
});

test("options without effect are left out of the help of an algorithm only", () => {
  const helpOf = (name?: string) => {
    const command = addTrainOptions(new Command("train"));
    if (name !== undefined) describeAlgorithm(command, algorithmOf(name));
    return command.helpInformation();
  };
  expect(helpOf()).toContain("choices: ");
  expect(helpOf("sft")).not.toMatch(/^Arguments:|training algorithm/m);
  expect(helpOf()).toMatch(/--batch[\s\S]*--cost-scorer/);
  expect(helpOf("grpo")).not.toMatch(/--batch|--size|--alphabet/);
  expect(helpOf("grpo")).toContain("--cost-scorer");
  expect(helpOf("sft")).not.toMatch(/--cost-scorer|--env/);
  expect(helpOf("sft")).toMatch(/--size[\s\S]*--alphabet[\s\S]*--context[\s\S]*--batch/);
});
