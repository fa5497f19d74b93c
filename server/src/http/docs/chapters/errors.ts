import { reservedRunErrorCodes, runErrorMeanings } from "@beckon/contract";
import { apiErrors } from "../../errors.ts";
import { jsonBlock, prose, table } from "../html.ts";
import type { Chapter } from "./chapter.ts";

const example = {
  ok: false,
  error: "query parameter limit must be at most 200.",
  code: "bad_request",
};

const reserved: readonly string[] = reservedRunErrorCodes;

const headers: readonly (readonly [string, string])[] = [
  [
    "`beckon-request-id`",
    "On every response. The text of `internal_error` and `unavailable` repeats it, and so does the server's log: give it to the operator.",
  ],
  [
    "`beckon-ignored-fields`",
    "On responses of [Invoke agent](/docs/calls#invokeAgent): the names of the body's fields that were ignored, percent-encoded and separated by commas. At most 10 names and 512 bytes.",
  ],
  [
    "`Retry-After`",
    "On 429, on 503 unless the request may have changed something and a repeat could change it again, and on other errors if a limit that resets is the cause: seconds after which to try again.",
  ],
  [
    "`RateLimit`",
    "On 401 and 429 of a counted limit: what remains of it. `RateLimit-Policy` describes it.",
  ],
];

function codes(rows: readonly (readonly [code: string, status: number, meaning: string])[]) {
  return table(
    rows.map(([code, status, meaning]) => [`\`${code}\``, String(status), meaning]),
    ["Code", "Status", "Meaning"],
  );
}

export function errors(): Chapter {
  return {
    slug: "errors",
    title: "Errors",
    lead: "Every error is JSON with a text for people and a stable code for programs.",
    sections: [
      {
        id: "shape",
        title: "Shape",
        html: `${jsonBlock(example)}<p>${prose("`error` says what went wrong and what to do; its wording can change. `code` is stable. `run_id` is present once a run exists. Versions can add codes: treat an unknown code by its HTTP status.")}</p>`,
      },
      {
        id: "headers",
        title: "Headers that help",
        html: table(headers),
      },
      {
        id: "codes",
        title: "Codes of rejected requests",
        html: `<p>${prose("A rejected request started and changed nothing; only after `unavailable` and `internal_error`, and after a `too_large` that concerns the response, a change may have been saved. An error of [Replay received requests](/docs/triggers#replayTriggerRequests) can follow the start of some runs: its text says of how many.")}</p>${codes(
          Object.entries(apiErrors).map(([code, { status, meaning }]) => [code, status, meaning]),
        )}`,
      },
      {
        id: "run-codes",
        title: "Codes of failed runs",
        html: `<p>${prose("[Invoke agent](/docs/calls#invokeAgent) responds with 500 and one of these if the run failed. The run has the same code in its `error`.")}</p>${codes(
          Object.entries(runErrorMeanings)
            .filter(([code]) => !reserved.includes(code))
            .map(([code, meaning]) => [code, 500, meaning]),
        )}`,
      },
      {
        id: "retries",
        title: "Retries",
        html: `<p>${prose("Repeat a request after 429, 503, `internal_error` and lost connections, with the same Idempotency-Key if it is a POST: see [Idempotency](/docs/idempotency). Other errors remain until the request or the state changes.")}</p>`,
      },
    ],
  };
}
