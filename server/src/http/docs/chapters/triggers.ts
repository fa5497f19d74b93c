import { prose } from "../html.ts";
import { type Chapter, inThreeLanguages } from "./chapter.ts";

const variables: readonly (readonly [string, string])[] = [
  ["payload", "The parsed JSON or the fields of a form, else the text."],
  ["headers, query", "The headers and query parameters that the settings choose."],
  ["event.id, event.type", "What the settings locate."],
  ["files", "The files of a form: name, type, size and id."],
  ["received_at", "The time of arrival."],
];

const outcomes: readonly (readonly [string, string])[] = [
  [
    "200",
    "The run was started or held, or an earlier request had the same event id or Idempotency-Key.",
  ],
  [
    "202",
    "The request was skipped: by the filter, as a sample, by the honeypot, or because the trigger is disabled and swallows.",
  ],
  ["401", "The signature or the secret is not valid. The body is not stored."],
  ["409", "The agent is paused or the trigger is disabled. With `hold` the run waits instead."],
];

export function triggers(baseUrl: string): Chapter {
  const url = `${baseUrl}/api/public/trigger-presets`;
  return {
    slug: "webhooks",
    title: "Webhooks",
    lead: "How triggers receive the requests of GitHub, Stripe, Slack and your own systems.",
    sections: [
      {
        id: "webhooks-presets",
        title: "Presets",
        html: `<p>${prose("A trigger accepts any POST until `receiving` is set. Take the settings of a preset, [create a trigger](/docs/triggers#createTrigger) with them, and [set the secret](/docs/triggers#setTriggerSecret) that the sender signs with. To list the presets:")}</p>`,
        samples: inThreeLanguages({
          curl: `curl -sS --fail-with-body \\\n  "${url}" \\\n  -H "x-api-key: $BECKON_KEY"`,
          typescript: `const response = await fetch("${url}", {
  headers: { "x-api-key": process.env.BECKON_KEY ?? "" },
});
if (!response.ok) throw new Error(await response.text());
console.log(await response.json());`,
          python: `import json
import os
from urllib.request import Request, urlopen

request = Request("${url}", headers={"x-api-key": os.environ["BECKON_KEY"]})
with urlopen(request) as response:
    print(json.load(response))`,
        }),
      },
      {
        id: "webhooks-mapping",
        title: "Filter and template",
        html: `<p>${prose("The filter is an expression in CEL, for example `event.type == 'push'`. The template is in Liquid, for example `{{ payload.pusher.name }} pushed`. Both have these variables. To try them before they are saved, [preview](/docs/triggers#previewTrigger) a received request or an example of a preset.")}</p><table>${rows(variables)}</table>`,
      },
      {
        id: "webhooks-responses",
        title: "What the sender gets",
        html: `<table>${rows(outcomes)}</table><p>${prose("[Received requests](/docs/triggers#listTriggerRequests) are kept for 30 days, unless the operator has set another time, and can be [replayed](/docs/triggers#replayTriggerRequest). If a filter or template fails, the run is created failed with `mapping_error`.")}</p>`,
      },
    ],
  };
}

function rows(pairs: readonly (readonly [string, string])[]): string {
  return pairs
    .map(([name, meaning]) => `<tr><td><code>${name}</code></td><td>${prose(meaning)}</td></tr>`)
    .join("");
}
