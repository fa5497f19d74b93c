import { expect, test } from "vitest";
import { newId } from "../ids.ts";
import { runTraceIds } from "./run-trace.ts";
import { formatTraceparent, parseTraceparent } from "./traceparent.ts";

const traceId = "0af7651916cd43dd8448eb211c80319c";
const spanId = "b7ad6b7169203331";
const valid = `00-${traceId}-${spanId}-01`;

test("a valid traceparent is read, of a later version too", () => {
  expect(parseTraceparent(valid)).toEqual({ traceId, spanId, isSampled: true });
  expect(parseTraceparent(`00-${traceId}-${spanId}-02`)?.isSampled).toBe(false);
  const later = parseTraceparent(`01-${traceId}-${spanId}-01-more`);
  expect(later).toEqual({ traceId, spanId, isSampled: true });
  expect(formatTraceparent({ traceId, spanId, isSampled: true })).toBe(valid);
});

test.each([
  undefined,
  "",
  `${valid}-more`,
  `${valid} `,
  `${valid}, ${valid}`,
  valid.toUpperCase(),
  `ff${valid.slice(2)}`,
  `01-${traceId}-${spanId}-01more`,
  `00-${"0".repeat(32)}-${spanId}-01`,
  `00-${traceId}-${"0".repeat(16)}-01`,
  `00-${traceId.slice(1)}-${spanId}-01`,
  `00-${traceId}-${spanId}-1`,
])("the traceparent %j is malformed", (text) => {
  expect(parseTraceparent(text)).toBeUndefined();
});

test("the trace of a run has the UUID of the run's id, and two other ids of its spans", () => {
  // The id is the example in the specification of TypeID 0.3.
  const ids = runTraceIds("run_01h455vb4pex5vsknk084sn02q");
  expect(ids).toEqual({
    traceId: "01890a5dac96774bbcceb302099a8057",
    runSpanId: "bcceb302099a8057",
    requestSpanId: "43314cfdf6657fa8",
  });
  expect(runTraceIds(newId("run")).traceId).toMatch(/^[0-9a-f]{32}$/);
  expect(() => runTraceIds("run_!")).toThrow("is not an id");
});
