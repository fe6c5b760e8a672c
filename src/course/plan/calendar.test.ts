import { expect, test } from "vitest";
import { addDays, dayOfSeconds, daysBetween, isDay, localDay } from "./calendar.ts";

test("days are counted across months, leap days and changes of the clock", () => {
  expect(daysBetween("2026-11-15", "2026-11-15")).toBe(0);
  expect(daysBetween("2028-02-28", "2028-03-01")).toBe(2);
  expect(daysBetween("2026-03-28", "2026-03-30")).toBe(2);
  expect(daysBetween("2026-11-15", "2026-11-01")).toBe(-14);
  expect(addDays("2026-12-31", 1)).toBe("2027-01-01");
});

test("a day is what the local calendar says, at both ends of it", () => {
  expect(localDay(new Date(2026, 0, 5, 0, 0, 1))).toBe("2026-01-05");
  expect(localDay(new Date(2026, 0, 5, 23, 59, 59))).toBe("2026-01-05");
  expect(dayOfSeconds(new Date(2026, 0, 5, 23, 59).getTime() / 1000)).toBe("2026-01-05");
});

test.each([8_640_000_000_001, 1e300, -1e300, Number.NaN])(
  "a commit at %d s has a day all the same",
  (seconds) => expect(isDay(dayOfSeconds(seconds))).toBe(true),
);

test.each(["2026-02-30", "2026-13-01", "15.11.2026", "", "2026-1-1", "today"])(
  "%j is no day",
  (text) => expect(isDay(text)).toBe(false),
);
