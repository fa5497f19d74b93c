import { expect, test } from "vitest";
import { formatMoney, formatShortCount } from "../format/index.ts";
import { axisMarks } from "./axis-marks.ts";

test.each([
  [1, ["0", "1"]],
  [2, ["0", "1", "2"]],
  [250, ["0", "50", "100", "150", "200", "250"]],
])("the labels of an axis up to %i calls differ", (highest, labels) => {
  expect(axisMarks(highest, formatShortCount).map(formatShortCount)).toEqual(labels);
});

test.each([
  [1, ["$0.00", "<$0.0001"]],
  [30, ["$0.00", "<$0.0001"]],
  [200, ["$0.00", "$0.0001", "$0.0002"]],
  [250, ["$0.00", "$0.0001", "$0.0002", "$0.0003"]],
])("the labels of an axis up to %i micro-dollars differ", (highest, labels) => {
  const marks = axisMarks(highest, formatMoney);
  expect(marks.map(formatMoney)).toEqual(labels);
  expect(marks.at(-1)).toBeGreaterThanOrEqual(highest);
});
