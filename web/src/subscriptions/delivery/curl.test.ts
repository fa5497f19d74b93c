import { expect, test } from "vitest";
import { curlOf } from "./curl.ts";

test("the command has the body and the headers of the attempt, quoted for a shell", () => {
  const command = curlOf(
    { body: `{"text":"it's $HOME"}`, url: "https://example.com/now" },
    {
      url: "https://example.com/then?a=1&b='2'",
      request_headers: {
        "content-type": "application/json",
        "content-length": "22",
        "webhook-id": "evt_1",
      },
    },
  );
  expect(command).toBe(
    [
      `curl -sS -i 'https://example.com/then?a=1&b='\\''2'\\'''`,
      "  -H 'content-type: application/json'",
      "  -H 'webhook-id: evt_1'",
      `  --data-raw '{"text":"it'\\''s $HOME"}'`,
    ].join(" \\\n"),
  );
});

test("without an attempt it has the URL of the delivery, without a body there is none", () => {
  expect(curlOf({ body: "{}", url: "https://example.com" }, undefined)).toContain(
    "'https://example.com'",
  );
  expect(curlOf({ body: null, url: "https://example.com" }, undefined)).toBeUndefined();
});
