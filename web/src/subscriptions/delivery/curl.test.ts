import { expect, test } from "vitest";
import { curlOf } from "./curl.ts";

test("the command has the body and the headers of the attempt, quoted for a shell", () => {
  const command = curlOf(
    { format: "standard" },
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
  const standard = { format: "standard" } as const;
  const command = curlOf(standard, { body: "{}", url: "https://example.com" }, undefined);
  expect(command).toContain("'https://example.com'");
  expect(command).toContain("-H 'content-type: application/json'");
  expect(curlOf(standard, { body: null, url: "https://example.com" }, undefined)).toBeUndefined();
});

test("the content type is that of the present format, in which the body is", () => {
  const url = "https://example.com";
  const request_headers = { "webhook-id": "evt_1", "content-type": "application/json" };
  const command = curlOf({ format: "cloudevents" }, { body: "{}", url }, { url, request_headers });
  expect(command?.match(/content-type: [^']+/g)).toEqual([
    "content-type: application/cloudevents+json",
  ]);
});
