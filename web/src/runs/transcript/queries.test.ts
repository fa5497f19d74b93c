import { createClient } from "@beckon/client";
import { QueryClient } from "@tanstack/react-query";
import { expect, test } from "vitest";
import { wholeJournalQuery } from "./queries.ts";
import { addEvent, emptyTranscript } from "./transcript.ts";

test("arguments and results of an ended run keep integers that a number cannot represent", async () => {
  const call = '{"call_id":"c1","tool":"read","arguments":{"id":9007199254740993}}';
  const result = '{"call_id":"c1","tool":"read","outcome":"ok","result":{"id":-9007199254740993}}';
  const entries = [
    '{"seq":1,"type":"run.step","data":{"step":1,"artifact_id":"art_1","bytes":70000}}',
    `{"seq":2,"type":"run.tool_call","data":${call}}`,
    `{"seq":3,"type":"run.tool_result","data":${result}}`,
  ];
  const body = `{"ok":true,"data":[${entries}],"next":null}`;
  const headers = { "content-type": "application/json" };
  const fetch = async () => new Response(body, { headers });
  const client = createClient({ url: "http://127.0.0.1", fetch });
  const journal = await new QueryClient().fetchQuery(
    wholeJournalQuery({ id: "wsp_1", client }, "run_1"),
  );
  const [use] = journal.reduce(addEvent, emptyTranscript).steps[0]?.tools ?? [];
  expect(use?.arguments).toBe('{"id":9007199254740993}');
  expect(JSON.stringify(use?.result)).toBe('{"id":-9007199254740993}');
});
