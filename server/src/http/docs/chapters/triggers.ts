import { presetsNeeding200 } from "../../receiving/index.ts";
import { prose, table } from "../html.ts";
import { samplesForGet } from "../samples.ts";
import type { Chapter } from "./chapter.ts";

const variables: readonly (readonly [string, string])[] = [
  ["`payload`", "The parsed JSON or the fields of a form, else the text."],
  ["`headers, query`", "The headers and query parameters that the settings choose."],
  ["`event.id, event.type`", "What the settings locate."],
  ["`files`", "The files of a form: name, type, size and id."],
  ["`received_at`", "The time of arrival."],
];

const outcomes: readonly (readonly [string, string])[] = [
  [
    "`200`",
    "The run was started or held, or an earlier request had the same event id or Idempotency-Key.",
  ],
  [
    "`202`",
    `The request was skipped: by the filter, as a sample, by the honeypot, or because the trigger is disabled and swallows. Senders with the presets ${presetsNeeding200} get 200, because they repeat a request after any other status.`,
  ],
  ["`401`", "The signature or the secret is not valid. The body is not stored."],
  [
    "`409`",
    "The agent is paused or the trigger is disabled. While the agent is paused, `hold` makes the run wait instead. A disabled trigger always refuses or swallows.",
  ],
];

export function triggers(baseUrl: string): Chapter {
  return {
    slug: "webhooks",
    title: "Webhooks",
    lead: "How triggers receive the requests of GitHub, Stripe, Slack and your own systems.",
    sections: [
      {
        id: "webhooks-presets",
        title: "Presets",
        html: `<p>${prose("A trigger accepts any POST of text, JSON or a URL-encoded form until `receiving` is set. Take the settings of a preset, [create a trigger](/docs/triggers#createTrigger) with them, and [set the secret](/docs/triggers#setTriggerSecret) that the sender signs with. To list the presets:")}</p>`,
        samples: samplesForGet(`${baseUrl}/api/public/trigger-presets`),
      },
      {
        id: "webhooks-mapping",
        title: "Filter and template",
        html: `<p>${prose("The filter is an expression in CEL, for example `event.type == 'push'`. The template is in Liquid, for example `{{ payload.pusher.name }} pushed`. Both have these variables. To try them before they are saved, [preview](/docs/triggers#previewTrigger) a received request or an example of a preset.")}</p>${table(variables)}`,
      },
      {
        id: "webhooks-responses",
        title: "What the sender gets",
        html: `${table(outcomes)}<p>${prose("[Received requests](/docs/triggers#listTriggerRequests) are kept for 30 days, unless the operator has set another time, and can be [replayed](/docs/triggers#replayTriggerRequest). If a filter or template fails, the run is created failed with `mapping_error`.")}</p>`,
      },
    ],
  };
}
