// A naive scorer: the expected integer appears anywhere in the completion.
export default {
  name: "naive_integer_anywhere",
  version: "1.0.0",
  spec: "Reward 1 if the expected integer is among the integers of the completion, otherwise 0.",
  codes: ["found", "absent"],
  score({ expected_answer }, completion) {
    const found = (completion.match(/-?\d+/g) ?? []).includes(String(expected_answer));
    return { reward: found ? 1 : 0, code: found ? "found" : "absent", details: {} };
  },
};
