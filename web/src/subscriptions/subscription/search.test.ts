import { expect, test } from "vitest";
import { filtersOf } from "./search.ts";

test("filters that the API would reject are left out", () => {
  expect(filtersOf({ status: "failed,pending,lost", type: "run.step", run_id: " " })).toEqual({
    status: "pending,failed",
  });
  expect(filtersOf({ type: "run.failed", run_id: "run_1", act: "edit" })).toEqual({
    type: "run.failed",
    run_id: "run_1",
  });
});
