// A player that replies to customers: each part of a good reply is there or not, and so is padding.
const PADDING =
  "Every message is important to us, and so is every customer, because nothing is as important to us as the people who write to us, today as well as on all the other days of the year, which is why we take each message as seriously as we can.";

/** How often each part is there, of a hundred replies. */
const SHARES = { apology: 65, problem: 65, step: 70, deadline: 60, gift: 12, padding: 30 };

export function replyText({ prompt, customer }, rng) {
  const { problem, remedy } = customer;
  const there = Object.fromEntries(
    Object.entries(SHARES).map(([part, share]) => [part, rng.below(100) < share]),
  );
  const deadline = there.deadline ? ` within ${2 + rng.below(4)} days` : "";
  const sentences = [
    there.apology ? "We are sorry." : "Hello.",
    there.problem ? `You wrote about ${problem}.` : "",
    there.step ? `${remedy}${deadline}.` : "Somebody may look at it.",
    there.gift ? "You also get 20 euros." : "",
    there.padding ? PADDING : "",
  ];
  return {
    prompt: `${prompt}\n`,
    completion: sentences.filter((sentence) => sentence !== "").join(" "),
  };
}
