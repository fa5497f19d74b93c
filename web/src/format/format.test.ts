import { describe, expect, test } from "vitest";
import {
  firstLine,
  formatAsOf,
  formatBytes,
  formatClock,
  formatCount,
  formatCounted,
  formatDuration,
  formatExact,
  formatMoney,
  formatPercent,
  formatPrice,
  formatRange,
  formatShortCount,
  formatTime,
  formatTokens,
  knownZone,
  moneyBeside,
  shortenId,
} from "./index.ts";

describe("durations", () => {
  test.each([
    [0, "0 ms"],
    [840, "840 ms"],
    [999.4, "999 ms"],
    [999.6, "1.00 s"],
    [3_410, "3.41 s"],
    [9_994, "9.99 s"],
    [9_996, "10.0 s"],
    [16_200, "16.2 s"],
    [59_940, "59.9 s"],
    [59_960, "1 m"],
    [134_000, "2 m 14 s"],
    [3_599_600, "1 h"],
    [11_100_000, "3 h 5 m"],
    [187_200_000, "2 d 4 h"],
    [null, "unknown"],
    [Number.NaN, "unknown"],
    [-1, "unknown"],
  ])("%s ms reads %s", (ms, text) => {
    expect(formatDuration(ms)).toBe(text);
  });
});

describe("money", () => {
  test.each([
    [0, "$0.00"],
    [18_400, "$0.0184"],
    [500_000, "$0.50"],
    [99, "<$0.0001"],
    [100, "$0.0001"],
    [3_200_000, "$3.20"],
    [1_204_500_000, "$1,204.50"],
    [-18_400, "−$0.0184"],
    [999_999, "$1.00"],
    [null, "unknown"],
    [undefined, "unknown"],
  ])("%s micros read %s", (micros, text) => {
    expect(formatMoney(micros)).toBe(text);
  });

  test.each([
    [[697_600, 4_302_400], 5_000_000, "$0.70 + $4.30 = $5.00"],
    [[800, 4_999_200], 5_000_000, "$0.0008 + $4.9992 = $5.00"],
    [[0, 5_000_000], 5_000_000, "$0.00 + $5.00 = $5.00"],
    [[15_000, 10_000], 25_000, "$0.015 + $0.01 = $0.025"],
    [[12_500, 2_400], 14_900, "$0.0125 + $0.0024 = $0.0149"],
    [[4_995_100, 4_900], 5_000_000, "$4.9951 + $0.0049 = $5.00"],
    [[1_004_000, 1_003_000, 2_993_000], 5_000_000, "$1.004 + $1.003 + $2.993 = $5.00"],
    [[1_004_000, 1_006_000, 2_990_000], 5_000_000, "$1.00 + $1.01 + $2.99 = $5.00"],
    [[1_000_000, 4_025_000], 5_025_000, "$1.00 + $4.025 = $5.025"],
    [[20, 30], 50, "<$0.0001 + <$0.0001 = $0.00005"],
  ])("amounts of %j micros beside a limit add up to it: %s", (amounts, limit, text) => {
    const parts = amounts.map(moneyBeside(limit, amounts));
    expect(`${parts.join(" + ")} = ${formatPrice(limit)}`).toBe(text);
  });

  test("amounts that do not add up to the limit are in cents", () => {
    const above = [12_345_000, 508_000, 0];
    expect(above.map(moneyBeside(10_000_000, above))).toEqual(["$12.35", "$0.51", "$0.00"]);
  });

  test("amounts without a limit are in cents, unless one is smaller", () => {
    const halves = [1_004_000, 1_004_000];
    expect(halves.map(moneyBeside(null, halves))).toEqual(["$1.00", "$1.00"]);
    expect([697_600, 50_000].map(moneyBeside(null, [697_600, 50_000]))).toEqual(["$0.70", "$0.05"]);
    expect([697_600, 800].map(moneyBeside(null, [697_600, 800]))).toEqual(["$0.6976", "$0.0008"]);
  });
});

describe("quantities", () => {
  test("counts have separators, short counts a unit", () => {
    expect(formatCount(4_211)).toBe("4,211");
    expect(formatCount(1e9)).toBe("1,000,000,000");
    expect([980, 999.6, 4_211, 999_950, 1_300_000, 1e9].map(formatShortCount)).toEqual([
      "980",
      "1k",
      "4.2k",
      "1M",
      "1.3M",
      "1B",
    ]);
  });

  test("both ends of a range have separators", () => {
    expect(formatRange({ min: 1_024, max: 33_554_432 })).toBe("1,024 to 33,554,432");
  });

  test("a noun follows its count", () => {
    expect(formatCounted(1, "run")).toBe("1 run");
    expect(formatCounted(0, "run")).toBe("0 runs");
    expect(formatCounted(2, "reply", "replies")).toBe("2 replies");
  });

  test("tokens name their direction and leave out what is unknown", () => {
    expect(formatTokens(4_211, 388)).toBe("4,211 in · 388 out");
    expect(formatTokens(4_211, null)).toBe("4,211 in");
    expect(formatTokens(null, undefined)).toBe("unknown");
  });

  test("sizes are in units of 1024", () => {
    expect([0, 812, 2_150, 65_536, 1_048_575, 1_572_864].map(formatBytes)).toEqual([
      "0 B",
      "812 B",
      "2.1 KiB",
      "64 KiB",
      "1 MiB",
      "1.5 MiB",
    ]);
  });

  test("a percentage reads 0 or 100 only if it is", () => {
    expect([0, 0.0004, 0.992, 0.9996, 1, null].map(formatPercent)).toEqual([
      "0 %",
      "<0.1 %",
      "99.2 %",
      ">99.9 %",
      "100 %",
      "unknown",
    ]);
  });
});

describe("times", () => {
  const now = Date.parse("2026-11-03T14:02:11.482Z");

  test.each([
    [2, "now"],
    [12, "12 s ago"],
    [60, "1 min ago"],
    [3_599, "59 min ago"],
    [86_399, "23 h ago"],
    [-240, "in 4 min"],
    [86_400, "2 Nov"],
  ])("%s seconds before now reads %s", (seconds, text) => {
    expect(formatTime(now - seconds * 1000, now, "UTC")).toBe(text);
  });

  test("another year is named", () => {
    expect(formatTime("2025-09-30T12:00:00Z", now, "UTC")).toBe("30 Sep 2025");
  });

  test("the exact time is in the given zone, with milliseconds", () => {
    expect(formatExact(now, "Europe/Berlin")).toBe("3 Nov 2026, 15:02:11.482 Europe/Berlin");
    expect(formatClock(now, "UTC")).toBe("14:02:11");
    expect(formatClock("2026-11-03T00:00:00Z", "UTC")).toBe("00:00:00");
  });

  test("the time of old data has a date if it is of another day in the zone", () => {
    const time = Date.parse("2026-11-02T23:30:00Z");
    expect(formatAsOf(time, now, "Europe/Berlin")).toBe("00:30:00");
    expect(formatAsOf(time, now, "UTC")).toBe("2 Nov, 23:30:00");
    expect(formatAsOf(Date.parse("2025-11-03T14:02:11Z"), now, "UTC")).toBe("3 Nov 2025, 14:02:11");
  });

  test("a zone that the browser does not know is replaced by UTC", () => {
    expect(knownZone("Europe/Berlin")).toBe("Europe/Berlin");
    // PostgreSQL knows both.
    expect(() => formatExact(now, "<+03>-3")).toThrow(RangeError);
    expect(knownZone("<+03>-3")).toBe("UTC");
    expect(knownZone("posix/Europe/Berlin")).toBe("UTC");
  });

  test("what is not a time is unknown", () => {
    expect(formatTime("yesterday", now, "UTC")).toBe("unknown");
    expect(formatExact("yesterday", "UTC")).toBe("unknown");
  });
});

describe("shortening", () => {
  test("ids keep their prefix, start and end", () => {
    expect(shortenId("run_01k9x2m4c5e6f7g8h9j0k1l2h7f3")).toBe("run_01k9x2…h7f3");
    expect(shortenId("run_01k9")).toBe("run_01k9");
    expect(shortenId("0123456789abcdef")).toBe("012345…cdef");
  });

  test("a first line is cut at whole characters and says that there is more", () => {
    expect(firstLine("one\ntwo")).toBe("one…");
    expect(firstLine("\n  one  ")).toBe("one  ");
    expect(firstLine("👋".repeat(201))).toBe(`${"👋".repeat(200)}…`);
    expect(firstLine("")).toBe("");
  });
});
