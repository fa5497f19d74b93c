import { prose, table } from "../html.ts";
import { samplesForGet } from "../samples.ts";
import type { Chapter } from "./chapter.ts";

const promises: readonly (readonly [string, string])[] = [
  [
    "At least once",
    "An event can arrive twice. Ignore a `webhook-id` that you have processed at the same URL. The id is that of the event: all subscriptions that get the event, and the callback of its run, have the same.",
  ],
  ["No order", "Each event of a run has `seq`, which counts from 1 without gaps."],
  [
    "Repeated",
    "Until the receiver responds with a 2xx status: ten attempts in about 75 hours, unless the operator has set another schedule.",
  ],
  ["Signed", "As in Standard Webhooks: verify `webhook-signature` with one of its libraries."],
];

const reasons: readonly (readonly [string, string])[] = [
  ["`failing`", "Every attempt failed for 5 days."],
  ["`gone`", "The receiver responded with 410."],
  ["`backlog`", "More than 100,000 deliveries of events were pending."],
];

export function subscriptions(baseUrl: string): Chapter {
  return {
    slug: "signed-events",
    title: "Signed events",
    lead: "How other systems get events, verify them, and get again what they missed.",
    sections: [
      {
        id: "subscriptions-overview",
        title: "Subscriptions",
        html: `<p>${prose("A subscription sends events to a URL as signed POST requests. To add one, [create a subscription](/docs/subscriptions#createSubscription); the response has the secret. To try it, [send a test](/docs/subscriptions#testSubscription). The schemas and examples of all events are under `webhooks` in the OpenAPI document. To list the workspace's subscriptions with their health:")}</p>`,
        samples: samplesForGet(`${baseUrl}/api/public/subscriptions`),
      },
      {
        id: "delivery-promises",
        title: "What is promised",
        html: `${table(promises)}
<p>${prose("The signature is the HMAC-SHA256 of `<webhook-id>.<webhook-timestamp>.<body>` with the secret's bytes, in base64 after `v1,`. While a secret is rotated there are two, separated by a space. Reject a timestamp that is more than 5 minutes off.")}</p>`,
      },
      {
        id: "missed-deliveries",
        title: "What was missed",
        html: `<p>${prose("While a subscription is paused or disabled, its events become deliveries with the status `not_sent`. To get them, resume it, then [replay](/docs/subscriptions#replayDeliveries) since the time in the response. Beckon disables a subscription for one of these reasons:")}</p>${table(reasons)}`,
      },
    ],
  };
}
