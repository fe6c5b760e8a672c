// Groups of four attempts for the benchmark of judges, made one at a time.
export const GROUP = 4;

export function* groups(count) {
  for (let i = 0; i < count; i++) {
    const question = {
      role: "user",
      content: `Compute ${i} + ${i + 1}. ${"Take care. ".repeat(10)}`,
    };
    const attempts = Array.from({ length: GROUP }, (_, j) => [
      question,
      { role: "assistant", content: `${"Step by step. ".repeat(10)}\nFinal: ${2 * i + 1 + j}` },
    ]);
    yield { id: `group-${i}`, attempts, tools: [] };
  }
}
