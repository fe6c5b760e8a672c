/** What the manual's drills leave behind: the mental map in `check`, and answers of `drill`. */

import { beforeAll, describe, expect, test } from "vitest";
import { EXIT, expectError, Workspace } from "./cli.ts";
import { tooWide } from "./width.ts";

describe("the mental map", () => {
  const room = new Workspace();
  const NOTE = "notes/mental_map.md";
  const writeDrill4 = (loop: string) => {
    const [head = "", body = ""] = room.read(NOTE).split(/(?<=^## 4 .*\n)/m);
    const lines = [
      `- **Loop:** ${loop}`,
      "- **Knob:** measurement",
      "- **Failure and class:** dev-0003 has three spaces after Final: model",
      "- **Next change:** teach the format first",
    ];
    room.write(NOTE, `${head}\n${lines.join("\n")}\n\n${body.slice(body.indexOf("## 5 "))}`);
  };
  const check = async () => {
    const { stdout } = await room.run(["check"]);
    expect(tooWide(stdout)).toEqual([]);
    return stdout;
  };

  beforeAll(async () => {
    await room.run(["init", "."]);
  });

  test("check counts the drills that are written", async () => {
    expect(await check()).toMatch(/^Mental map: 0 of (\d+) drills written in notes/m);
    writeDrill4("A");
    expect(await check()).toMatch(/^Mental map: 1 of /m);
    const { stdout } = await room.run(["check", "--format", "json"]);
    expect(JSON.parse(stdout).mental_map).toMatchObject({ file: NOTE, written: 1 });
  });

  test("check says where a line cannot be right", async () => {
    writeDrill4("B");
    const said = await check();
    expect(said).toMatch(/^Mental map: 0 of /m);
    expect(said).toContain("  4  Loop: the commands of this drill belong to Loop A");
  });
});

describe("drill", () => {
  const room = new Workspace();
  const mark = (...answers: string[]) =>
    room.run(["drill", "mark", ...answers, "--outdir", "cases"]);

  beforeAll(async () => {
    const { code, stdout } = await room.run(["drill", "new", "--outdir", "cases"]);
    expect(code).toBe(EXIT.ok);
    expect(tooWide(stdout)).toEqual([]);
  });

  test("a wrong answer is corrected, and what was not answered is not given away", async () => {
    const { code, stdout } = await mark("3=policy");
    expect(code).toBe(1);
    expect(stdout).toContain("3  wrong  policy; it is scorer");
    expect(stdout).toContain("0 of 6 right.");
    expect(stdout.match(/no answer$/gm)).toHaveLength(5);
    expect(stdout).not.toMatch(/hack|parser|off-policy|selection/);
  });

  test("answers that cannot be read are refused", async () => {
    expectError(await mark("selection"), EXIT.usage, "NUMBER=CAUSE");
    expectError(await mark("1=luck"), EXIT.usage, "off-policy");
    expectError(await mark("9=policy"), EXIT.usage, "1 to 6");
    const again = await room.run(["drill", "new", "--outdir", "cases"]);
    expectError(again, EXIT.usage, "new folder");
  });
});
