import type { NewEvent } from "@beckon/contract";
import { expect, test } from "vitest";
import { RunRecorder } from "./run-recorder.ts";

const result: NewEvent = {
  type: "run.tool_result",
  data: { step: 1, call_id: "a", tool: "act", outcome: "refused", result: "no", duration_ms: 0 },
};

test("one write can have hundreds of thousands of entries", async () => {
  const ended: number[] = [];
  const recorder = new RunRecorder({
    events: [],
    append: async () => {},
    end: async (_outcome, entries) => void ended.push(entries.length),
  });
  const many = Array<NewEvent>(300_000).fill(result);
  await Promise.all([recorder.append([result]), recorder.append([result]), recorder.append(many)]);
  expect(recorder.entries).toHaveLength(300_002);
  recorder.defer(many);
  await recorder.end({ status: "succeeded", output: "" });
  expect(ended).toEqual([300_000]);
});

test("an entry that is appended after a write was rejected is written with the end", async () => {
  const ended: (readonly NewEvent[])[] = [];
  const write = Promise.withResolvers<void>();
  const recorder = new RunRecorder({
    events: [],
    append: () => write.promise,
    end: async (_outcome, entries) => void ended.push(entries),
  });
  const [first, second, third] = ["a", "b", "c"].map(
    (id) => ({ ...result, data: { ...result.data, call_id: id } }) as NewEvent,
  ) as [NewEvent, NewEvent, NewEvent];
  const writing = recorder.append([first]);
  const waiting = recorder.append([second]).catch(() => recorder.append([third]));
  write.reject(new Error("the database rejects the write"));
  await expect(writing).rejects.toThrow("the database rejects the write");
  await expect(waiting).rejects.toThrow("the database rejects the write");
  await recorder.end({ status: "succeeded", output: "" });
  expect(ended).toEqual([[first, second, third]]);
});
