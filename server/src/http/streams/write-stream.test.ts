import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { StreamEvent } from "@beckon/contract";
import { expect, onTestFinished, test } from "vitest";
import { writeStream } from "./write-stream.ts";

const event = (id: string) => ({ id, type: "run.started" }) as StreamEvent;

test.each([
  ["without a farewell", undefined],
  ["with a farewell", event("evt_farewell")],
])("events at the end of the source reach the reader, %s", async (_what, farewell) => {
  const server = createServer((_incoming, outgoing) => {
    void writeStream(
      outgoing,
      {
        async *events() {
          yield [event("evt_first"), event("evt_second")];
          yield event("evt_last");
        },
        idOf: () => undefined,
      },
      {
        signal: new AbortController().signal,
        farewell: () => farewell,
        headers: {},
        timing: { heartbeatMs: 60_000, retryMs: 1_000 },
      },
    );
  });
  onTestFinished(() => void server.close());
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  const { port } = server.address() as AddressInfo;
  const text = await (await fetch(`http://127.0.0.1:${port}/`)).text();
  expect(text.match(/evt_\w+/g)).toEqual([
    "evt_first",
    "evt_second",
    "evt_last",
    ...(farewell === undefined ? [] : ["evt_farewell"]),
  ]);
});
