import { expect, test } from "vitest";
import { parseDiffs } from "./history.ts";

const diff = (...lines: string[]) => ["\x1eabc", "", ...lines].join("\n");

test("counts the words of added lines, each file apart", () => {
  const log = diff(
    ...["diff --git a/notes/a.md b/notes/a.md", "--- a/notes/a.md", "+++ b/notes/a.md"],
    ...["@@ -0,0 +1,2 @@", "+one two, three", "+four"],
    ...["diff --git a/posts/b.md b/posts/b.md", "--- /dev/null", "+++ b/posts/b.md"],
    ...["@@ -0,0 +1 @@", "+five", "\\ No newline at end of file"],
  );
  expect([...(parseDiffs(log).get("abc") ?? [])]).toEqual([
    ["notes/a.md", 4],
    ["posts/b.md", 1],
  ]);
});

test("words that were there before are not new, wherever they moved", () => {
  const log = diff(
    ...["--- a/notes/a.md", "+++ b/notes/a.md", "@@ -1,2 +1 @@"],
    ...["-the leash holds", "-the policy", "+the policy holds the new leash"],
  );
  expect(parseDiffs(log).get("abc")?.get("notes/a.md")).toBe(1);
});

test("content that looks like a header is content", () => {
  const log = diff(
    ...["--- a/notes/a.md", "+++ b/notes/a.md", "@@ -1 +1,3 @@"],
    ...["-\\ not a mark", "+++ b/posts/forged.md", "+@@ -0,0 +1,900 @@", "+\x1edeadbeef"],
  );
  const parsed = parseDiffs(log);
  expect([...parsed.keys()]).toEqual(["abc"]);
  expect([...(parsed.get("abc")?.keys() ?? [])]).toEqual(["notes/a.md"]);
});

test("two commits are kept apart", () => {
  const one = diff("+++ b/notes/a.md", "@@ -0,0 +1 @@", "+one");
  const parsed = parseDiffs(`${one}\n${one.replace("abc", "def")}`);
  expect([...parsed.keys()]).toEqual(["abc", "def"]);
});
