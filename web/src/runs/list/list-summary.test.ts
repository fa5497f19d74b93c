import type { ListedRun } from "@beckon/client";
import { expect, test } from "vitest";
import { costText } from "./list-summary.tsx";

test.each<[costs: (number | null)[], isEstimated: boolean, text: string]>([
  [[], false, ""],
  [[0], false, " · $0.00"],
  [[400_000, 100_000], false, " · $0.50"],
  [[400_000, 100_000], true, " · ~$0.50"],
  [[400_000, null], false, " · at least $0.40, cost of 1 unknown"],
  [[null, null], false, " · cost unknown"],
  [[0, null], false, " · cost unknown"],
])(
  "the cost of runs is known, a lower bound or unknown: %j, estimated %j",
  (costs, estimated, text) => {
    const runs = costs.map((cost_micros) => ({ cost_micros, usage: { estimated } }) as ListedRun);
    expect(costText(runs)).toBe(text);
  },
);
