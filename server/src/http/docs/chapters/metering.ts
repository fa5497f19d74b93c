import { prose, table } from "../html.ts";
import { samplesForGet } from "../samples.ts";
import type { Chapter } from "./chapter.ts";

const amounts: readonly (readonly [string, string])[] = [
  ["`entries`", "Calls that were sent, one entry for each, also of failed and lost calls."],
  ["`input_tokens`", "Includes `cached_input_tokens` and `cache_write_tokens`."],
  ["`output_tokens`", "Includes `reasoning_tokens`."],
  ["`voice_ms, browser_ms`", "Milliseconds of speech and of browser time."],
  [
    "`cost_micros`",
    "Millionths of a dollar: the sum of the known costs; null if that is 0 and an entry has no price.",
  ],
  ["`unknown_cost_entries`", "Entries without a price. They are not in `cost_micros`."],
  [
    "`estimated_entries`",
    "Entries whose tokens Beckon estimated, because the answer was lost or its usage was missing or absurd.",
  ],
];

export function metering(baseUrl: string): Chapter {
  return {
    slug: "metering",
    title: "Usage and cost",
    lead: "What is metered, what it cost, and how to read both.",
    sections: [
      {
        id: "report",
        title: "Read usage",
        html: `<p>${prose("[Get usage](/docs/usage#getUsage) sums what the workspace used. `group_by` names up to two of `day`, `hour`, `agent`, `model`, `caller`, `metric` and `tag`; `from` and `to` set the range, by default the last 30 days. With `format=csv` all rows are one file. It needs the scope `usage:read`.")}</p>`,
        samples: samplesForGet(`${baseUrl}/api/public/usage?group_by=day,agent`),
      },
      {
        id: "amounts",
        title: "What is metered",
        html: `<p>${prose("Tokens of models, and seconds of voice and of a browser are metered; requests are not. Each row has these sums:")}</p>${table(amounts)}
<p>${prose("If a call is repeated after a failure, each attempt is an entry. Runs of drafts count, and so do runs that failed or were deleted.")}</p>`,
      },
      {
        id: "days",
        title: "Days and hours",
        html: `<p>${prose("A day is a date in the time zone that the workspace had at that moment. `from` and `to` are dates, both inclusive, or RFC 3339 times, `to` exclusive. Reports by hour or tag and reports between times read single entries: their range can be at most 31 days.")}</p>`,
      },
      {
        id: "unknown-cost",
        title: "Unknown cost",
        html: `<p>${prose("The cost of a call is unknown if its model has no price. Then `cost_micros` of the run and of its steps is null, and the entry counts in `unknown_cost_entries`. Unknown is never shown as 0.")}</p>`,
      },
    ],
  };
}
